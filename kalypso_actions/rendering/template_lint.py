"""Faults of Templates found in the Templates alone: unknown fields, and texts without quotes.

This does not follow texts of applications through variables, `range` and `with`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Assignment, ClusterType, Template
from kalypso_actions.model.layout import NAMESPACE_FILE, RECONCILER_FILE
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.rendering.data import FIELDS, JINJA_NAMES
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_go import gotemplate

USUAL_KEYS: Final = frozenset({"repo", "branch", "path"})
"""The keys of `.Manifests` that reconcilers need."""


def unknown_fields(
    template: Template, manifest_keys: Collection[str] | None = None
) -> Iterator[Problem]:
    """Yield each unknown field of a Template, with the nearest known one.

    If the keys of the targets are known (`manifest_keys` is not None), this reports a key of
    `.Manifests` that resembles a usual key and that no target has. Maps may have any other key.
    """
    dot, known = ("", JINJA_NAMES) if is_jinja(template) else (".", FIELDS)
    for names, where in fields_read(template):
        fault = _fault(names, known, manifest_keys)
        if fault:
            name, meant = fault
            fields = ", ".join(f"{dot}{field}" for field in known)
            yield Problem(
                f"Template {template.name!r}: no assignment has the field {dot}{name}",
                where,
                f"did you mean {dot}{meant}?" if meant else f"fields: {fields}",
                "template-field-unknown",
            )


def _fault(
    names: tuple[str, ...], known: Sequence[str], keys: Collection[str] | None
) -> tuple[str, str] | None:
    """Return an unknown field, and the one that was probably meant."""
    first, *rest = names
    if first not in known:
        return first, nearest(first, known)
    if first == "Manifests" and rest and keys is not None and rest[0] not in {*USUAL_KEYS, *keys}:
        close = nearest(rest[0], USUAL_KEYS)
        return (f"Manifests.{rest[0]}", f"Manifests.{close}") if close else None
    return None


JINJA: Final = "jinja2"


def is_jinja(template: Template) -> bool:
    """Return whether a Template is written for Jinja2, by its annotation."""
    return template.annotations.get(ENGINE_ANNOTATION) == JINJA


def fields_read(template: Template) -> Iterator[tuple[tuple[str, ...], Location]]:
    """Yield each field that a Template reads, with the keys below it, and its place.

    A field is `("ConfigData", "REGION")`. A manifest that does not compile has none; the stage that
    compiles the Template reports its fault.
    """
    names_of = _jinja_names if is_jinja(template) else _go_names
    for index, source in enumerate(template.manifests):
        for text in _texts(source):
            seen = set()
            for names, line, column in names_of(text):
                if (names, line) not in seen:
                    seen.add((names, line))
                    is_text = isinstance(source, str)
                    yield names, template.at(index, line, column) if is_text else template.at(index)


_GUARDS: Final = frozenset({"coalesce", "default", "empty", "hasKey", "or", "ternary"})
"""The functions that accept a key without a value."""


MAPS: Final = frozenset({"ConfigData", "Labels", "Manifests"})
"""The fields of an assignment that are maps."""


def keys_read(template: Template) -> Iterator[tuple[tuple[str, ...], int, Location]]:
    """Yield each key of a map that a Go template reads without a guard, and its place.

    A key comes with the field and the keys around it (`gotemplate.EACH` for each item), and with
    the number of the first ones that a guard accepts without a value. In Jinja2, a key without a
    value is an error already.
    """
    for index, source in enumerate(() if is_jinja(template) else template.manifests):
        for text in _texts(source):
            with suppress(gotemplate.TemplateError):
                required = gotemplate.required_fields(text, FUNCTIONS, REFUSED, _GUARDS)
                for path, guarded, line, column in required:
                    is_text = isinstance(source, str)
                    if path[0] in MAPS and gotemplate.EACH not in path[1:2]:
                        where = template.at(index, line, column) if is_text else template.at(index)
                        yield path, guarded, where


def uses(template: Template) -> Iterator[tuple[gotemplate.Use, Location]]:
    """Yield the calls of functions and the conditions of a Template, with their places."""
    for index, source in enumerate(template.manifests):
        for text in _texts(source):
            uses_of = _jinja_uses if is_jinja(template) else _go_uses
            for use in uses_of(text):
                is_text = isinstance(source, str)
                place = (use.line, use.column) if is_text else ()
                yield use, template.at(index, *place)


_FIRST: Final = frozenset({"coalesce", "or"})
"""The functions that return their first operand that is not empty."""


def reversed_defaults(template: Template) -> Iterator[Problem]:
    """Yield each field that has no effect, because a constant comes before it as its default."""
    for use, where in uses(template):
        first, others = use.operands[:1], use.operands[1:]
        if use.function == "default":
            first, others = use.operands[-1:], use.operands[:-1]
        elif use.function not in _FIRST:
            continue
        lost = [item.path for item in others if item.path and item.path[0] in (*FIELDS, *MAPS)]
        if lost and first[0].is_constant and first[0].is_set:
            field, text = f".{'.'.join(lost[0])}", first[0].texts[0]
            yield Problem(
                f"Template {template.name!r}: {{{{ {use.text} }}}} is always {text!r}: {field} has "
                "no effect",
                where,
                f'write the field first: {{{{ {field} | default "{text}" }}}}',
                "template-default-reversed",
            )


def _go_uses(text: str) -> Iterator[gotemplate.Use]:
    with suppress(gotemplate.TemplateError):
        yield from gotemplate.uses(text, FUNCTIONS, REFUSED)


def _jinja_uses(text: str) -> Iterator[gotemplate.Use]:
    # Importing Jinja2 takes time, and most runs have no Template for it.
    from kalypso_actions.rendering.jinja.manifests import root_uses  # noqa: PLC0415

    return root_uses(text)


def _go_names(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    try:
        yield from gotemplate.root_fields(text, FUNCTIONS, REFUSED)
    except gotemplate.TemplateError:
        return


def _jinja_names(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    # Importing Jinja2 takes time, and most runs have no Template for it.
    from kalypso_actions.rendering.jinja.manifests import root_names  # noqa: PLC0415

    lines = text.splitlines()
    for names, line in root_names(text):
        match = re.search(rf"\b{re.escape(names[0])}\b", lines[line - 1])
        yield names, line, match.start() + 1 if match else 0


def _texts(source: object) -> Iterator[str]:
    """Yield the templates of a manifest: a text, or all texts of an object."""
    match source:
        case str():
            yield source
        case Mapping():
            for value in source.values():
                yield from _texts(value)


ACTION: Final = re.compile(r"\{\{-? *+([^{}]*)\}\}")
_DELIVERED: Final = re.compile(r"\.(?:Manifests|Labels|Repo|Branch|Path)\b")
_DELIVERED_TO_JINJA: Final = re.compile(r"(?<![.\w])(?:Manifests|Labels)\b")
PRINTS_NOTHING: Final = re.compile(
    r"(?:if|else|with|range|end|define|template|block|fail|/\*)\b|\$\w* *:?="
)
_QUOTES: Final = re.compile(
    r"(?<![.\w])(?:quote|squote|toYaml|toJson|tojson|hash|len|length|b64enc|b32enc|sha1sum|sha256sum|"
    r"adler32sum|int)\b"
)


def unquoted_texts(template: Template) -> Iterator[Problem]:
    """Yield a note for the first text of an application that a Template prints unquoted."""
    is_jinja = bool(template.annotations.get(ENGINE_ANNOTATION))
    delivered = _DELIVERED_TO_JINJA if is_jinja else _DELIVERED
    for index, source in enumerate(template.manifests):
        if not isinstance(source, str):
            continue
        for match in ACTION.finditer(source):
            action = match[1]
            prints = delivered.search(action) and not PRINTS_NOTHING.match(action)
            if prints and not _QUOTES.search(action):
                line = source.count("\n", 0, match.start()) + 1
                column = match.start() - source.rfind("\n", 0, match.start())
                yield Problem(
                    f"Template {template.name!r} prints {match[0][:60]!r} without quoting it",
                    template.at(index, line, column),
                    "an application team writes this text: pipe it to "
                    + ("tojson" if is_jinja else "quote"),
                    "template-unquoted",
                )
                return


NO_VALUE: Final = "<no value>"

ADVICE: Final = (
    "add the value to the configuration or to the target's manifests, correct its name, or give "
    "it a default"
)

_ANY_ACTION: Final = re.compile(r"\{\{.*?\}\}")

Rendered = tuple[Assignment, Mapping[str, FileContent]]


def lacks_value(content: FileContent) -> bool:
    """Return whether a file has `<no value>`; the id of a written blob never counts."""
    return isinstance(content, bytes) and NO_VALUE.encode() in content


def templated_value(config: MergedConfig, row: str) -> tuple[str, Location] | None:
    """Return the key and the place of the value whose template printed a row of a file, if any.

    The row has the value's template itself, if that fails, or what the template has printed.
    """
    best: tuple[tuple[bool, bool, int], str, Location] | None = None
    for path, text in _value_texts(config.values):
        key = str(path[0])
        for line in text.splitlines():
            parts = _ANY_ACTION.split(line.strip())
            if "{{" not in line or not re.search(".*".join(map(re.escape, parts)), row):
                continue
            is_near = any(str(step) in row for step in path)
            likeness = line.strip() in row, is_near, sum(map(len, parts))
            origins = config.origins_of(key)
            places = origins.get(path) or origins.get(path[:1]) or ()
            if places and any(likeness) and (best is None or likeness > best[0]):
                best = likeness, ".".join(map(str, path)), places[-1]
    return best[1:] if best else None


def _value_texts(value: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a configuration that are templates."""
    match value:
        case str() if "{{" in value:
            yield path, value
        case Mapping():
            for key, inner in value.items():
                yield from _value_texts(inner, (*path, key))
        case list():
            for index, inner in enumerate(value):
                yield from _value_texts(inner, (*path, index))


def value_gaps(
    rendered: Sequence[Rendered],
    templates: Sequence[Template],
    config_of: Callable[[Assignment], MergedConfig] | None = None,
) -> list[Problem]:
    """Return a problem for each action of a Template that writes `<no value>` for assignments.

    With `config_of`, an action in a value of the configuration has the value's place.
    """
    by_name = {template.name: template for template in templates}
    subjects: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], tuple[Assignment, str]] = {}
    for assignment, files in rendered:
        for name, line in _lines(assignment.cluster_type, files):
            subject = f"{assignment.target.name} on {assignment.cluster_type.name}"
            # The text before the gap identifies the Template's line; the text after it may differ.
            start = line.partition(NO_VALUE)[0].strip()
            subjects.setdefault((name, start), []).append(subject)
            first.setdefault((name, start), (assignment, line))
    merged: dict[tuple[Location, str], dict[str, None]] = {}
    for (name, start), names in subjects.items():
        if name in by_name:
            example, line = first[name, start]
            value = templated_value(config_of(example), line) if config_of else None
            cause = _cause(by_name[name], start)
            if value:
                message = f"{value[0]} is a template: in Template {name!r}, it writes '{NO_VALUE}'"
                cause = value[1], message
            merged.setdefault(cause, {}).update(dict.fromkeys(names))
    return [
        Problem(
            f"{message} into {counted(len(names), 'file')} ({abbreviated([*names], 1)})",
            where,
            ADVICE,
            "template-no-value",
        )
        for (where, message), names in merged.items()
    ]


def missing_value_failure(
    rendered: Rendered, templates: Sequence[Template], config: MergedConfig
) -> Failure | None:
    """Return the first missing value of an assignment as its failure."""
    gaps = value_gaps([rendered], templates, lambda _: config)
    if not gaps or gaps[0].where is None:
        return None
    message = gaps[0].message.rpartition(" into ")[0]
    return Failure(message, gaps[0].where, ADVICE, code="template-no-value")


def _lines(
    cluster_type: ClusterType, files: Mapping[str, FileContent]
) -> Iterator[tuple[str, str]]:
    """Yield the Template and the line of each missing value."""
    for file, content in files.items():
        if isinstance(content, bytes) and lacks_value(content):
            for line in content.decode("utf-8", "replace").splitlines():
                if NO_VALUE in line:
                    yield template_of(cluster_type, file), line


def template_of(cluster_type: ClusterType, file: str) -> str:
    """Return the name of the Template that prints a file of a cluster type's folders."""
    names = {
        RECONCILER_FILE: cluster_type.reconciler,
        NAMESPACE_FILE: cluster_type.namespace_service,
    }
    return names.get(file, cluster_type.config_type)


def _cause(template: Template, start: str) -> tuple[Location, str]:
    """Return the place and the message of the action that writes `<no value>` after a text.

    The place is that of the Template if none of its lines writes such a text.
    """
    for index, manifest in enumerate(template.manifests):
        lines = manifest.split("\n") if isinstance(manifest, str) else ()
        for number, line in enumerate(lines, 1):
            for action in ACTION.finditer(line):
                if not PRINTS_NOTHING.match(action[1]) and _writes(line[: action.start()], start):
                    where = template.at(index, number, action.start() + 1)
                    return where, f"Template {template.name!r}: {action[0]!r} writes '{NO_VALUE}'"
    message = f"Template {template.name!r}: {start!r} is followed by '{NO_VALUE}'"
    return template.where, message


def _writes(text: str, start: str) -> bool:
    """Return whether a part of a Template's line may give this text; actions may write anything."""
    first, *others = _ANY_ACTION.split(text.strip())
    if not others:
        return start == first
    *middle, last = others
    position = len(first) if start.startswith(first) else -1
    for part in middle:
        index = start.find(part, position) if position >= 0 else -1
        position = index + len(part) if index >= 0 else -1
    return 0 <= position <= len(start) - len(last) and start.endswith(last)
