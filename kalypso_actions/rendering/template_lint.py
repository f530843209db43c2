"""Faults of Templates found in the Templates alone: unknown fields, and texts without quotes.

This does not follow texts of applications through variables, `range` and `with`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import FIELDS, JINJA_NAMES
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
