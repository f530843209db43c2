"""The documents of one YAML file as plain Python values with the lines of their keys.

Read as Kubernetes reads: YAML 1.1 with the scalars of yaml.v2, so `yes` is a boolean, and neither
dates nor sexagesimal numbers exist. Whatever the bytes, the result is documents and problems,
never an exception: size, nesting, the expansion of aliases and the number of problems are bounded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import yaml

from kalypso_actions.errors import Location, Problem
from kalypso_actions.goyaml.errors import YAMLError
from kalypso_actions.goyaml.scalars import resolve, tagged
from kalypso_actions.model.documents import Document

MAX_BYTES: Final = 10 * 1024 * 1024
MAX_DOCUMENTS: Final = 10_000
MAX_VALUES: Final = 500_000
MAX_DEPTH: Final = 100
MAX_PROBLEMS: Final = 100

# libyaml where PyYAML was built with it, several times faster; the same events without it.
LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE_KEY: Final = "<<"
BLOCK_STYLES: Final = frozenset({"|", ">"})
SURROGATE: Final = re.compile("[\ud800-\udfff]")

Path = tuple[str | int, ...]


class _Mark(Protocol):
    """A place in the text; libyaml's marks and PyYAML's own have no class in common."""

    @property
    def line(self) -> int:
        """The line, counted from 0."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The documents of a file in order, as far as they could be read."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def parse_yaml(repository: str, path: str, content: bytes) -> ParsedFile:
    """Parse all documents of a file; empty ones are left out.

    Everything up to the first syntax error is kept, and the error is a problem.
    """
    whole = Location(repository, path)
    if len(content) > MAX_BYTES:
        return ParsedFile(problems=(too_large(whole, len(content)),))
    try:
        text = _decode(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"not a text in UTF-8 (byte {error.start})"
        where = Location(repository, path, line)
        return ParsedFile(problems=(Problem(message, where, "save the file as UTF-8"),))
    return _Composer(whole).compose(text)


def too_large(where: Location, size: int) -> Problem:
    """The problem of a file beyond the limit."""
    limit = MAX_BYTES // (1024 * 1024)
    return Problem(
        f"the file has {size / (1024 * 1024):.1f} MiB, at most {limit} MiB are read",
        where,
        "split it, or exclude it by .sourceignore",
    )


def _decode(content: bytes) -> str:
    """UTF-8, or UTF-16 where a byte order mark says so."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


class _UnreadableError(Exception):
    """The text cannot be read any further; the reason and its line."""

    def __init__(self, message: str, line: int, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.advice = advice


@dataclass(slots=True)
class _Anchor:
    """An anchored value and what it weighs once expanded; not `complete` while it is being read."""

    value: object = None
    weight: int = 0
    complete: bool = False


@dataclass(slots=True)
class _Composer:
    """Builds values from the events of one file."""

    whole: Location
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    events: Iterator[Any] = field(default_factory=lambda: iter(()))
    anchors: dict[str, _Anchor] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    blocks: set[Path] = field(default_factory=set)
    weight: int = 0
    documents: int = 0
    values: int = 0

    def compose(self, text: str) -> ParsedFile:
        """Documents until the end or the first error."""
        documents: list[Document] = []
        try:
            self.events = iter(yaml.parse(text, Loader=LOADER))
            for event in self.events:
                if isinstance(event, yaml.DocumentStartEvent):
                    document = self._document()
                    if document is not None:
                        documents.append(document)
        except _UnreadableError as refused:
            self.problems.append(Problem(refused.message, self._at(refused.line), refused.advice))
        except yaml.YAMLError as error:
            where = self._at(_error_line(error, text))
            self.problems.append(Problem(f"not valid YAML: {_words(error)}", where))
        except (ValueError, OverflowError) as error:
            # PyYAML without libyaml does not check the number in an escape like "\UFFFFFFFF".
            self.problems.append(Problem(f"not valid YAML: {error}", self.whole))
        return ParsedFile(tuple(documents), tuple(self.problems), tuple(self.warnings))

    def _document(self) -> Document | None:
        self.anchors, self.lines, self.blocks, self.weight = {}, {}, set(), 0
        start = next(self.events)
        line = _line(start)
        self.documents += 1
        if self.documents > MAX_DOCUMENTS:
            raise _UnreadableError(
                f"more than {MAX_DOCUMENTS} documents in one file", line, "split it"
            )
        body = self._value(start, ())
        next(self.events)  # the document's end
        if body is None or body in ({}, []):
            return None
        if isinstance(body, dict):
            return Document(body, self._at(line), self.lines, self.blocks)
        name = "list" if isinstance(body, list) else "single value"
        message = f"the document is a {name} where an object with apiVersion and kind is expected"
        self._doubt(self.problems, message, line)
        return None

    def _value(self, event: yaml.NodeEvent, path: Path) -> object:
        if len(path) > MAX_DEPTH:
            raise _UnreadableError(f"nested more than {MAX_DEPTH} levels deep", _line(event))
        self.values += 1
        if self.values > MAX_VALUES:
            raise _UnreadableError(
                f"more than {MAX_VALUES} values in one file", _line(event), "split it"
            )
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        anchor = _Anchor()
        if event.anchor is not None:
            self.anchors[event.anchor] = anchor
        before = self.weight
        value: object
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.style in BLOCK_STYLES:
                self.blocks.add(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path)
        else:
            value = self._mapping(path)
        self.weight += 1
        anchor.value, anchor.weight, anchor.complete = value, self.weight - before, True
        return value

    def _alias(self, event: yaml.AliasEvent) -> object:
        anchor = self.anchors.get(str(event.anchor))
        if anchor is None:
            raise _UnreadableError(
                f"no anchor &{event.anchor} before the alias *{event.anchor}", _line(event)
            )
        if not anchor.complete:
            raise _UnreadableError(
                f"the alias *{event.anchor} stands inside its own anchor", _line(event)
            )
        self.weight += anchor.weight
        if self.weight > MAX_BYTES:
            raise _UnreadableError(
                "the document grows beyond all measure when its aliases are expanded",
                _line(event),
                "write the values out, or repeat fewer of them",
            )
        return anchor.value

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text: str = event.value
        self.weight += len(text)
        if not text.isascii() and SURROGATE.search(text):
            raise _UnreadableError("an escape that is no character", _line(event))
        if event.tag is not None:
            try:
                return tagged(text, event.tag)
            except YAMLError as error:
                raise _UnreadableError(error.message, _line(event)) from error
        # implicit[0]: a plain scalar, whose type its text decides.
        return resolve(text) if event.implicit[0] else text

    def _sequence(self, path: Path) -> list[object]:
        items: list[object] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            here = (*path, len(items))
            self.lines[here] = _line(event)
            items.append(self._value(event, here))
        return items

    def _mapping(self, path: Path) -> dict[str, object]:
        entries: dict[str, object] = {}
        merges: list[tuple[object, int]] = []
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if _is_merge(event):
                merges.append((self._value(next(self.events), (*path, MERGE_KEY)), _line(event)))
                continue
            key = self._key(event)
            here = (*path, key)
            if key in entries:
                self._repeated(key, self.lines[here], _line(event))
            self.lines[here] = _line(event)
            entries[key] = self._value(next(self.events), here)
        for merged, line in merges:
            _merge(entries, merged, line)
        return entries

    def _key(self, event: yaml.Event) -> str:
        """The key as text, which stands for a decimal number too.

        Any other key that is no string is a problem: which text it becomes is not certain.
        """
        if isinstance(event, yaml.ScalarEvent):
            key = self._scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = _Anchor(key, len(event.value), complete=True)
        elif isinstance(event, yaml.AliasEvent):
            key = self._alias(event)
        else:
            raise _UnreadableError("a list or an object cannot be a key", _line(event))
        if isinstance(key, str):
            return key
        text = event.value if isinstance(event, yaml.ScalarEvent) else str(key)
        if type(key) is int and str(key) == text:
            return text  # Kubernetes' conversion to JSON has one way to write it: this one
        name = {bool: "boolean", type(None): "null"}.get(type(key), "number")
        self._doubt(
            self.problems,
            f"the key {text!r} is a {name} to YAML, and keys must be strings",
            _line(event),
            f'write it in quotes: "{text}"',
        )
        return text

    def _repeated(self, key: str, first: int, line: int) -> None:
        message = f"the key {key!r} is written twice, on lines {first} and {line}; the last counts"
        self._doubt(self.warnings, message, line, "remove one of them")

    def _doubt(self, kept: list[Problem], message: str, line: int, advice: str = "") -> None:
        """Note something that is wrong or doubtful and go on, unless it is too much already."""
        kept.append(Problem(message, self._at(line), advice))
        if len(self.problems) + len(self.warnings) >= MAX_PROBLEMS:
            raise _UnreadableError(
                "too much is wrong with this file: the rest of it is not read", line
            )

    def _at(self, line: int) -> Location:
        return Location(self.whole.repository, self.whole.path, line)


def _is_merge(event: yaml.Event) -> bool:
    """Whether a key is YAML 1.1's merge key; in quotes it is a key like any other."""
    return isinstance(event, yaml.ScalarEvent) and event.value == MERGE_KEY and event.implicit[0]


def _merge(entries: dict[str, object], merged: object, line: int) -> None:
    """Take over the entries of `<<` that are not written out; of several, the first wins."""
    for source in merged if isinstance(merged, list) else [merged]:
        if not isinstance(source, Mapping):
            raise _UnreadableError("<< takes an object or a list of objects", line)
        for key, value in source.items():
            entries.setdefault(key, value)


def _line(event: yaml.Event) -> int:
    return _mark_line(event.start_mark)


def _mark_line(mark: _Mark | None) -> int:
    return int(mark.line) + 1 if mark else 0


def _words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        return ", ".join(part for part in (error.context, error.problem) if part)
    if isinstance(error, yaml.reader.ReaderError):
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return f"#x{code:04x}: {error.reason}"
    return str(error)


def _error_line(error: yaml.YAMLError, text: str) -> int:
    if isinstance(error, yaml.MarkedYAMLError):
        # libyaml puts the end of a text without a final newline on a line of its own.
        last = text.count("\n") + (0 if text.endswith("\n") else 1)
        return min(_mark_line(error.problem_mark or error.context_mark), last)
    if isinstance(error, yaml.reader.ReaderError):
        return text.count("\n", 0, error.position) + 1
    return 0
