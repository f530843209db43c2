"""The documents of rendered files: how many, of which kinds, names and namespaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from kalypso_actions.model.counts import counted
from kalypso_actions.model.layout import CONFIG_SCRIPT

# libyaml is several times faster, if PyYAML was built with it; the events are the same.
LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

COLLECTION: Final = "?"
"""A key that is a mapping or a sequence."""

_LINE: Final = re.compile(r"^(?:(---)|[ -]*(apiVersion|kind|namespace|name) *:(.*))", re.MULTILINE)
"""The lines that count in a text that is not YAML."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value that identifies a document or something in it.

    `is_fixed`: no delivered text may be a part of it.
    """

    file: str
    document: int
    field: str
    value: str
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries of an assignment's files, and the numbers of actions in later passes."""

    entries: tuple[Entry, ...]
    counts: tuple[tuple[str, int], ...]
    later_templates: tuple[int, ...]


def outline(files: Mapping[str, bytes], later_templates: Iterable[int]) -> Outline:
    """Return the outline of an assignment's files; a shell script has no documents."""
    entries: list[Entry] = []
    counts: list[tuple[str, int]] = []
    for file, content in files.items():
        text = content.decode("utf-8", "replace")
        read = _Documents(file)
        if file != CONFIG_SCRIPT:
            try:
                entries += list(read.entries(text))
            except (yaml.YAMLError, ValueError, OverflowError):
                read = _Documents(file, number=-1)
                entries += _lines(file, text)
        counts.append((file, read.number))
    return Outline(tuple(entries), tuple(counts), tuple(later_templates))


def difference(actual: Outline, neutral: Outline, other: Outline) -> str:
    """Say how an outline differs from those of two neutral texts; "" if it does not.

    A value that differs between the neutral ones is made of the text.
    """
    expected_counts = dict(neutral.counts)
    for file, number in actual.counts:
        expected = expected_counts.pop(file, 0)
        if number != expected:
            return f"{file} has {_documents(number)} instead of {_documents(expected)}"
    if expected_counts:
        return f"{', '.join(expected_counts)} is not written"
    places = Counter(map(_place, actual.entries))
    expected_places = Counter(map(_place, neutral.entries))
    for file, _, field in (places - expected_places) + (expected_places - places):
        return f"{file} has another {field}"
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


def _place(entry: Entry) -> tuple[str, int, str]:
    return entry.file, entry.document, entry.field


def _documents(number: int) -> str:
    return "a text that is not YAML" if number < 0 else counted(number, "document")


def _lines(file: str, text: str) -> Iterator[Entry]:
    number = 0
    for separator, field, value in _LINE.findall(text):
        number += bool(separator)
        yield Entry(file, number, field or "---", value.strip(), is_fixed=False)


@dataclass(slots=True)
class _Documents:
    """Reads the entries of a file from YAML's events."""

    file: str
    number: int = 0

    def entries(self, text: str) -> Iterator[Entry]:
        path: list[Any] = []
        """The open collections: a mapping's key, None before a key; an index of a sequence."""
        anchors: set[str] = set()
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.NodeEvent):
                yield from self._properties(event, anchors)
            match event:
                case yaml.DocumentStartEvent():
                    self.number += 1
                    path, anchors = [], set()
                case yaml.MappingStartEvent():
                    path.append(None)
                case yaml.SequenceStartEvent():
                    path.append(0)
                case yaml.CollectionEndEvent():
                    path.pop()
                    if path and path[-1] is None:
                        path[-1] = COLLECTION
                    else:
                        _next(path)
                case yaml.ScalarEvent() | yaml.AliasEvent():
                    value = str(getattr(event, "value", None) or event.anchor or "")
                    if path and path[-1] is None:
                        path[-1] = value
                        continue
                    yield from self._entry(path, value)
                    _next(path)

    def _properties(self, event: yaml.NodeEvent, anchors: set[str]) -> Iterator[Entry]:
        """Yield the anchor or alias and the tag of a node: a text that begins with one is no text.

        Raises YAMLError for an alias without anchor.
        """
        anchor, tag = event.anchor, getattr(event, "tag", None)
        if anchor and isinstance(event, yaml.AliasEvent) and anchor not in anchors:
            raise yaml.YAMLError(f"the alias {anchor!r} has no anchor")
        if anchor:
            anchors.add(anchor)
            yield Entry(self.file, self.number, "anchor or alias", anchor, is_fixed=True)
        if tag:
            yield Entry(self.file, self.number, "tag", tag, is_fixed=True)

    def _entry(self, path: list[Any], value: str) -> Iterator[Entry]:
        own = path[2:] if path[:1] == ["items"] else path
        field = str(path[-1]) if path else ""
        if own in (["apiVersion"], ["kind"], ["metadata", "namespace"]):
            yield Entry(self.file, self.number, ".".join(map(str, path)), value, is_fixed=True)
        elif (
            own == ["metadata", "name"]
            or field in {"kind", "<<"}
            or field.lower().endswith("namespace")
        ):
            yield Entry(self.file, self.number, ".".join(map(str, path)), value, is_fixed=False)


def _next(path: list[Any]) -> None:
    """Go to the next key or item of the innermost collection."""
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
