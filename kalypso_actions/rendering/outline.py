"""The documents of rendered files: their number, identities, key paths, nodes and commands.

`refused_names` finds names and keys with which a cluster would refuse them. libyaml reads a mapping
that has a key twice, but Go's YAML refuses it: kustomize, and so Flux, then builds nothing of the
cluster's folder (https://yaml.org/spec/1.2.2/#3213-node-comparison).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from kalypso_actions.model.counts import counted
from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.model.kubernetes_names import SUBDOMAIN_LIMIT, object_name_fault
from kalypso_actions.model.layout import CONFIG_SCRIPT
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.registration_budget import Spend

# libyaml is several times faster, if PyYAML was built with it; the events are the same.
LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

SHELL: Final = "shell command with"
"""Characters with a meaning to shells."""

COLLECTION: Final = "?"
"""A key that is a mapping or a sequence."""

NO_TEXT: Final = "value that is no text"
"""A text that YAML reads as another type, such as `true`, because no Template quotes it."""

NO_TEXT_KEY: Final = "key that is no text"

ITEM: Final = "item"
"""A text in a sequence, which may have any number of texts; those of the Template must stay."""

DEEPEST: Final = 100
"""Go's YAML allows 10,000 levels; the paths of such nodes would take gigabytes."""

EVENT: Final = 32
"""The work for an event of YAML, in characters: it takes up to 10 microseconds and 250 bytes."""

Place = tuple[str, str, str]
"""A file, a path of keys in it, and the kind of the node there."""

_LINE: Final = re.compile(r"^(?:(---)|[ -]*(apiVersion|kind|namespace|name) *:(.*))", re.MULTILINE)
"""The lines that count in a text that is not YAML."""


@dataclass(frozen=True, slots=True)
class OutlineValue:
    """A value that identifies a document or something in it.

    `is_fixed` means that no delivered text may be a part of it.
    """

    file: str
    document: int
    field: str
    value: str
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries and places of an assignment's files, and the actions in later passes."""

    entries: tuple[OutlineValue, ...]
    places: Counter[Place]
    counts: tuple[tuple[str, int], ...]
    later_templates: tuple[int, ...]


def outline(
    files: Mapping[str, bytes],
    later_templates: Iterable[int],
    numbers: Collection[str] = (),
    spend: Spend = lambda _: None,
    uncounted: str = "",
) -> Outline:
    """Return the outline of an assignment's files; a shell script has no documents.

    `numbers` are the texts that have another type in YAML if they are not quoted. `spend` counts
    the characters and, in advance, each part of the documents that the outline keeps. `uncounted`
    are characters to ignore in shell commands.
    """
    entries: list[OutlineValue] = []
    places: Counter[Place] = Counter()
    counts: list[tuple[str, int]] = []
    for file, content in files.items():
        spend(len(content))
        text = content.decode("utf-8", "replace")
        read = _Documents(file, numbers, spend, uncounted)
        if file == CONFIG_SCRIPT:
            entries.append(
                OutlineValue(file, 0, SHELL, shell_syntax(text, uncounted), is_fixed=True)
            )
        else:
            try:
                entries += list(read.entries(text))
            except (yaml.YAMLError, ValueError, OverflowError):
                read = _Documents(file, numbers, spend, uncounted, number=-1)
                entries += _lines(file, text)
        places.update(read.places)
        counts.append((file, read.number))
    return Outline(tuple(entries), places, tuple(counts), tuple(later_templates))


def difference(actual: Outline, neutral: Outline, other: Outline) -> str:
    """Return how an outline differs from those of two neutral texts; "" if it does not.

    A value that differs between the two neutral outlines comes from the text.
    """
    return object_difference(actual, neutral, other) or _place_difference(
        actual.places, neutral.places, other.places
    )


def object_difference(actual: Outline, neutral: Outline, other: Outline) -> str:
    """Return how the objects differ: their number, kinds, names, namespaces, tags and commands."""
    expected_counts = dict(neutral.counts)
    for file, number in actual.counts:
        expected = expected_counts.pop(file, 0)
        if number != expected:
            return f"{file} has {_documents(number)} instead of {_documents(expected)}"
    if expected_counts:
        return f"{', '.join(expected_counts)} is not written"
    fields = Counter(map(_field, actual.entries))
    expected_fields = Counter(map(_field, neutral.entries))
    for file, _, name in (fields - expected_fields) + (expected_fields - fields):
        return f"{file} has another {name}"
    same_places = len(neutral.entries) == len(other.entries)
    others = other.entries if same_places else neutral.entries
    for entry, expected_entry, other_entry in zip(
        actual.entries, neutral.entries, others, strict=False
    ):
        is_made_of_text = not entry.is_fixed and expected_entry.value != other_entry.value
        if entry.value != expected_entry.value and not is_made_of_text:
            return (
                f"{entry.file} has {entry.field} {entry.value!r} instead of "
                f"{expected_entry.value!r}"
            )
    if actual.later_templates != neutral.later_templates:
        return "it becomes a part of a template"
    return ""


def _place_difference(
    actual: Counter[Place], neutral: Counter[Place], other: Counter[Place]
) -> str:
    """Describe a place that only one outline has.

    Paths with keys from the text differ in any case; only their numbers must agree.
    """
    fixed = neutral & other
    made, expected = actual - fixed, neutral - fixed
    kinds = Counter((file, kind) for file, _, kind in made.elements() if kind != ITEM)
    expected_kinds = Counter((file, kind) for file, _, kind in expected.elements() if kind != ITEM)
    for file, path, kind in actual - neutral:  # also finds a repeated key
        if kinds[file, kind] > expected_kinds[file, kind]:
            return f"{file} has a {kind} at {path}"
    for file, path, _ in fixed - actual:
        return f"{file} has another {path}"
    if kinds != expected_kinds:
        return f"{next(iter(expected - made))[0]} lacks a part"
    return ""


def _field(entry: OutlineValue) -> tuple[str, int, str]:
    return entry.file, entry.document, entry.field


def _documents(number: int) -> str:
    return "a text that is not YAML" if number < 0 else counted(number, "document")


def _lines(file: str, text: str) -> Iterator[OutlineValue]:
    number = 0
    for separator, key, value in _LINE.findall(text):
        number += bool(separator)
        yield OutlineValue(file, number, key or "---", value.strip(), is_fixed=False)


@dataclass(slots=True)
class _Documents:
    """Reads the entries of a file from YAML's events."""

    file: str
    numbers: Collection[str]
    spend: Spend
    uncounted: str
    number: int = 0
    before: str = ""
    flow: int | None = None
    """The number of collections in the outermost `{` or `[`, if one is open."""
    places: list[Place] = field(default_factory=list)

    def entries(self, text: str) -> Iterator[OutlineValue]:
        path: list[Any] = []
        """For each open collection: a mapping's key (None before a key), or a sequence's index."""
        anchors: set[str] = set()
        for event in yaml.parse(text, Loader=LOADER):
            self.spend(EVENT)
            if isinstance(event, yaml.NodeEvent):
                yield from self._properties(event, anchors)
                self._add_place(path, event)
                self._follow_flow(path, event)
            match event:
                case yaml.DocumentStartEvent():
                    self.number += 1
                    path, anchors, self.flow = [], set(), None
                case yaml.MappingStartEvent():
                    _enter(path, None)
                case yaml.SequenceStartEvent():
                    _enter(path, 0)
                case yaml.CollectionEndEvent():
                    path.pop()
                    if path and path[-1] is None:
                        path[-1] = COLLECTION
                    else:
                        _next(path)
                case yaml.ScalarEvent() | yaml.AliasEvent():
                    yield from self._text(path, event)

    def _text(self, path: list[Any], event: yaml.NodeEvent) -> Iterator[OutlineValue]:
        """Yield the entries of a text: a key of the innermost mapping, or a value."""
        value = str(getattr(event, "value", None) or event.anchor or "")
        if not path or path[-1] is not None:
            yield from self._entry(path, value)
            _next(path)
            return
        if self._is_no_text(event):
            yield OutlineValue(self.file, self.number, NO_TEXT_KEY, value, is_fixed=True)
        path[-1] = value

    def _follow_flow(self, path: list[Any], event: yaml.NodeEvent) -> None:
        """Note where `{` or `[` begins; raise YAMLError for a plain `?` in it.

        libyaml reads `{a: b?c}`. For Go's parsers, which clusters use, the `?` begins a key.
        """
        if self.flow is not None and len(path) < self.flow:
            self.flow = None
        match event:
            case yaml.CollectionStartEvent() if event.flow_style and self.flow is None:
                self.flow = len(path) + 1
            case yaml.ScalarEvent() if self.flow is not None and not event.style:
                if "?" in event.value:
                    raise yaml.YAMLError(f"Go's parser reads no plain {event.value!r}")

    def _add_place(self, path: list[Any], event: yaml.NodeEvent) -> None:
        """Note the place of a node other than a key; a sequence may have any number of texts."""
        if path and path[-1] is None:
            return
        match event:
            case yaml.MappingStartEvent():
                kind = "mapping"
            case yaml.SequenceStartEvent():
                kind = "sequence"
            case _:
                kind = NO_TEXT if self._is_no_text(event) else "text"
        # Within a collection that is a key, the enclosing mapping has no key yet.
        steps = ("[]" if isinstance(step, int) else step or COLLECTION for step in path)
        place = ".".join(steps) or "the top"
        is_item = kind == "text" and bool(path) and isinstance(path[-1], int)
        if is_item and isinstance(event, yaml.ScalarEvent):
            item = f"{place} {event.value}"
            self.spend(len(item))
            self.places.append((self.file, item, ITEM))
        if not is_item or path[-1] == 0:
            self.spend(len(place))
            self.places.append((self.file, place, kind))

    def _is_no_text(self, event: yaml.Event) -> bool:
        """Return whether a node is a plain scalar without text, or one of the `numbers`."""
        return (
            isinstance(event, yaml.ScalarEvent)
            and event.implicit[0]
            and (not event.value or event.value in self.numbers)
        )

    def _properties(self, event: yaml.NodeEvent, anchors: set[str]) -> Iterator[OutlineValue]:
        """Yield the anchor or alias, and the tag, of a node.

        YAML reads a text that begins with one of these as something else. Raises YAMLError for an
        alias without anchor.
        """
        anchor, tag = event.anchor, getattr(event, "tag", None)
        if anchor and isinstance(event, yaml.AliasEvent) and anchor not in anchors:
            raise yaml.YAMLError(f"the alias {anchor!r} has no anchor")
        if anchor:
            anchors.add(anchor)
            yield OutlineValue(self.file, self.number, "anchor or alias", anchor, is_fixed=True)
        if tag:
            yield OutlineValue(self.file, self.number, "tag", tag, is_fixed=True)

    def _entry(self, path: list[Any], value: str) -> Iterator[OutlineValue]:
        before, self.before = self.before, value
        if is_shell(path, value, before):
            syntax = shell_syntax(value, self.uncounted)
            yield OutlineValue(self.file, self.number, SHELL, syntax, is_fixed=True)
        own = path[2:] if path[:1] == ["items"] else path
        key = str(path[-1]) if path else ""
        if own in (["apiVersion"], ["kind"], ["metadata", "namespace"]):
            yield OutlineValue(
                self.file, self.number, ".".join(map(str, path)), value, is_fixed=True
            )
        elif (
            own == ["metadata", "name"]
            or key in {"kind", "<<"}
            or key.lower().endswith("namespace")
        ):
            yield OutlineValue(
                self.file, self.number, ".".join(map(str, path)), value, is_fixed=False
            )


def _enter(path: list[Any], first: int | None) -> None:
    """Go into a mapping or a sequence. Raises ValueError for more levels than a document needs."""
    if len(path) == DEEPEST:
        raise ValueError(f"the nodes are nested more than {DEEPEST} times")
    path.append(first)


def _next(path: list[Any]) -> None:
    """Go to the next key or item of the innermost collection."""
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None


_QUOTED: Final = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|(?:(?<=\s)|\A)\#[^\n]*|'[^']*'""", re.DOTALL)
"""Texts in single quotes, which shells do not interpret, and other text that hides such quotes."""

_SYNTAX: Final = re.compile(r"[`$\\'\";|&<>()#*?\[\]{}!~\s]")

_COMMAND_OPTION: Final = re.compile(r"-[a-z]*c")
"""`sh -ec`: the next argument is a command."""


def is_shell(path: Sequence[object], value: str, before: str) -> bool:
    """Return whether a shell runs the value at a path of YAML; `before` is the previous value."""
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    is_argument = bool(path and isinstance(path[-1], int) and _COMMAND_OPTION.fullmatch(before))
    return is_argument or key == "script" or key.endswith(".sh") or value.startswith("#!")


def shell_syntax(text: str, ignored: str = "") -> str:
    """Return the characters of a script that have a meaning to shells.

    This leaves out those in single quotes, and those of `ignored`.
    """
    if "<<" not in text:  # in a here-document, quotes have no meaning
        text = _QUOTED.sub(lambda quoted: "''" if quoted[0][0] == "'" else quoted[0], text)
    return "".join(char for char in _SYNTAX.findall(text) if char not in ignored)


_LABEL: Final = rb"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME: Final = rb"(?=[-.a-z0-9]{1,%d}(?![-.a-z0-9]))%s(?:\.%s)*+" % (
    SUBDOMAIN_LIMIT,
    _LABEL,
    _LABEL,
)
_END: Final = rb"[^\S\n]*+(?:[\n#}]|\Z|, *+[\"']?[-.\w]++[\"']? *+:)"
"""The end of a plain name: of its line, or of its part of a mapping in braces."""

_REFUSED: Final = re.compile(
    rb"name(?<!\wname)[\"']?+ *+: *+(?!%s%s|\"%s\"|'%s'(?!'))" % (_NAME, _END, _NAME, _NAME)
)
"""Matches what seems to be a name that `object_name_fault` refuses.

The pattern begins with the word itself: a word boundary before it would make the search several
times as slow.
"""

_OBJECT_NAME: Final = re.compile(r"(?:items\.\d+\.)?metadata\.name")

NamePlace = tuple[str, int, str]
"""A file, the number of a document in it, and the path of a field."""


def refused_names(files: Mapping[str, bytes], spend: Spend) -> dict[NamePlace, str]:
    """Return the names that are no DNS subdomain, which nearly all kinds require.

    This parses only the files that seem to have such a name; `spend` counts that.
    """
    suspicious = {name: file for name, file in files.items() if _REFUSED.search(file)}
    if not suspicious:
        return {}
    entries = outline(suspicious, (), spend=spend).entries
    objects = {(entry.file, entry.document) for entry in entries if entry.field == "apiVersion"}
    return {
        (entry.file, entry.document, entry.field): entry.value
        for entry in entries
        if _OBJECT_NAME.fullmatch(entry.field) and object_name_fault(entry.value)
        if (entry.file, entry.document) in objects
    }


_KEY: Final = re.compile(r"(?<![^\s\"'{,])([^\s\"'{},\[\]:]++)[\"']? *+:(?=\s|\Z)")

_AFTER_KEY: Final = frozenset("\"': ")

FEW_KEYS: Final = 16


def repeated_key(
    files: Mapping[str, bytes], keys: Collection[str], target: DeploymentTarget, spend: Spend
) -> Failure | None:
    """Return the failure of a target if a mapping in the files has one of `keys` twice.

    This parses only files in which a key seems to occur twice; `spend` counts that.
    """
    for name, file in files.items() if keys else ():
        text = file.decode("utf-8", "replace")
        is_few = len(keys) <= FEW_KEYS
        counts = _counts(text, keys) if is_few else Counter(_KEY.findall(text))
        twice = {key for key in keys if counts[key] > 1}
        key = _repeated_in(text, twice, spend) if twice else ""
        if key:
            return Failure(
                f"{name} has the key {key!r} twice: the platform's Template writes it as well",
                target.at(key),
                "deliver another key, or ask the platform team for a Template without it",
                code="registration-documents",
                is_delivered=True,
            )
    return None


def _counts(text: str, keys: Collection[str]) -> Mapping[str, int]:
    """Count how often each of a few keys seems to occur; searching for all keys takes longer."""
    counts = dict.fromkeys(keys, 0)
    for key in filter(None, keys):
        position = text.find(key)
        while position >= 0:
            end = position + len(key)
            # Most occurrences are parts of values; looking at one character takes less time.
            if text[end : end + 1] in _AFTER_KEY:
                match = _KEY.match(text, position)
                counts[key] += match is not None and match[1] == key
            position = text.find(key, end)
    return counts


def _repeated_in(text: str, keys: Collection[str], spend: Spend) -> str:
    """Return the first of the keys that one mapping has twice."""
    spend(len(text))
    mappings: list[set[str] | None] = []
    """The keys of each open mapping; None for a sequence."""
    expects_key: list[bool] = []
    try:
        for event in yaml.parse(text, Loader=LOADER):
            spend(EVENT)
            is_key = bool(expects_key) and expects_key[-1]
            if isinstance(event, yaml.ScalarEvent) and is_key and mappings[-1] is not None:
                if event.value in mappings[-1] and event.value in keys:
                    return str(event.value)
                mappings[-1].add(event.value)
            if isinstance(event, yaml.NodeEvent) and expects_key:
                expects_key[-1] = not is_key and mappings[-1] is not None
            if isinstance(event, yaml.CollectionStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                mappings.append(set() if is_mapping else None)
                expects_key.append(is_mapping)
            elif isinstance(event, yaml.CollectionEndEvent):
                mappings.pop()
                expects_key.pop()
    except yaml.YAMLError:
        return ""  # a script, or a fault of the Template
    return ""
