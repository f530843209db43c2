"""Parse the documents of a YAML file to plain Python values with the lines of their keys.

As in Kubernetes, this is YAML 1.1 with the scalars of yaml.v2: `yes` is a boolean, and there are no
dates and no sexagesimal numbers. Any input gives documents and problems, never an exception; size,
nesting, expansion of aliases and the number of problems are limited.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Document, EntryMark, Mark, Path
from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.scalars import resolve, tagged

MAX_BYTES: Final = 64 * 1024 * 1024
"""The output of kustomize is one file: 5,000 cluster types with 4 KB of ConfigMap have 20 MB."""
MAX_DOCUMENTS: Final = 100_000
MAX_VALUES: Final = 2_000_000
MAX_SIZE: Final = 10 << 20
"""Characters and values of a document with aliases, each of which counts."""
MAX_DEPTH: Final = 100
LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
GIT_CRYPT: Final = b"\0GITCRYPT\0"
"""The beginning of a file that git-crypt has encrypted.

https://github.com/AGWA/git-crypt/blob/master/commands.cpp
"""
MAX_PROBLEMS: Final = 100

# libyaml is several times faster, if PyYAML was built with it; the events are the same.
LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE_KEY: Final = "<<"
BEGINNING: Final = ("apiVersion", "kind")
"""The keys with which documents of Kubernetes begin."""
SEPARATOR_MISSING: Final = "yaml-separator-missing"
SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
CONFLICT: Final = re.compile(r"^<{7} .*$(?=[\s\S]*^={7}$[\s\S]*^>{7} )", re.MULTILINE)
"""Matches the first marker that git writes where two changes meet."""
MAX_SYNTAX_ERRORS: Final = 10
ENTRY: Final = re.compile(r"\s*(?:- |[\w./-]+:(?:\s|$))")
"""The beginning of an entry of a mapping or list."""
INDENTING_TAB: Final = re.compile(" *\t")
SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The readable documents of a file, in order; `values` counts aliased values each time."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    values: int = field(default=0, compare=False)


def parse_yaml(
    repository: str,
    path: str,
    content: bytes,
    max_values: int | None = None,
    *,
    scalar: Callable[[str], object] = resolve,
) -> ParsedFile:
    """Parse all documents of a file, without empty ones and those with a syntax error.

    Parsing stops once the file has more than `max_values` values, those of aliases included.
    `scalar` gives the value of a plain scalar.
    """
    whole = Location(repository, path)
    text = read_text(content, whole)
    if isinstance(text, Problem):
        return ParsedFile(problems=(text,))
    return _Composer(whole, scalar, max_values).compose(text)


def read_text(content: bytes, where: Location) -> str | Problem:
    """Return the text of a file, or the reason why it cannot be read."""
    if len(content) > MAX_BYTES:
        return too_large(where, len(content))
    filtered = filtered_file(content, where)
    if filtered:
        return filtered
    try:
        return _decode(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8 (byte {error.start})"
        place = Location(where.repository, where.path, line)
        return Problem(message, place, "save the file as UTF-8", "file-not-utf-8")


def filtered_file(content: bytes, where: Location) -> Problem | None:
    """Return the problem of a file that Git LFS or git-crypt has changed on the way into git."""
    if content.startswith(LFS_POINTER):
        message = "the file is a pointer of Git LFS, which is not followed"
        advice = "store the file in git itself: remove its pattern from .gitattributes, and add it"
        return Problem(message, where, advice, "file-lfs-pointer")
    if content.startswith(GIT_CRYPT):
        message = "the file is encrypted by git-crypt, and nothing decrypts it"
        advice = "remove its pattern from .gitattributes, and add the file again; keep secrets "
        advice += "where the application reads them, and name a place, not a value"
        return Problem(message, where, advice, "file-not-utf-8")
    return None


def too_large(where: Location, size: int) -> Problem:
    """Return the problem of a file that is too large."""
    limit = MAX_BYTES // (1024 * 1024)
    return Problem(
        f"the file has {size / (1024 * 1024):.1f} MiB, but the limit is {limit} MiB",
        where,
        "split it, or exclude it by .sourceignore",
        "file-too-large",
    )


def _decode(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


class _UnreadableError(Exception):
    """The rest of the text cannot be read, for a reason at a place."""

    def __init__(self, message: str, mark: Mark, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.mark = mark
        self.advice = advice


@dataclass(slots=True)
class _Anchor:
    """An anchored value, its expanded size and count; not `complete` while it is being read."""

    value: object = None
    size: int = 0
    values: int = 0
    complete: bool = False


@dataclass(slots=True)
class _Composer:
    """Builds values from the events of a file."""

    whole: Location
    scalar: Callable[[str], object] = resolve
    max_values: int | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    events: Iterator[Any] = field(default_factory=lambda: iter(()))
    anchors: dict[str, _Anchor] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    marks: dict[Path, EntryMark] = field(default_factory=dict)
    blocks: dict[Path, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    size: int = 0
    documents: int = 0
    values: int = 0
    expanded_values: int = 0

    def compose(self, text: str) -> ParsedFile:
        """Return all documents but those with a syntax error.

        The documents behind such an error begin at the next separator.
        """
        documents: list[Document] = []
        self.lines = text.split("\n") if "|" in text or ">" in text else []
        rest: str | None = text
        while rest is not None:
            rest = self._compose(rest, text, documents)
        return ParsedFile(
            tuple(documents), tuple(self.problems), tuple(self.warnings), self.expanded_values
        )

    def _compose(self, text: str, whole: str, documents: list[Document]) -> str | None:
        """Add documents up to a syntax error; return the text behind it, with the same lines."""
        try:
            # `yaml.parse` would take three steps for each event.
            self.events = iter(LOADER(text).get_event, None)
            for event in self.events:
                if isinstance(event, yaml.DocumentStartEvent):
                    document = self._document()
                    if document is not None:
                        documents.append(document)
        except _UnreadableError as error:
            where = self._at(error.mark)
            self.problems.append(Problem(error.message, where, error.advice, "yaml-invalid"))
        except yaml.YAMLError as error:
            mark = error_mark(error, text)
            conflict = CONFLICT.search(whole)
            if conflict:
                line = whole.count("\n", 0, conflict.start()) + 1
                message = "the file has the markers of a merge conflict"
                advice = "resolve the conflict: keep one of the two parts, and remove the markers"
                problem = Problem(message, self._at((line, 1)), advice, "yaml-invalid")
                self.problems.append(problem)
                return None
            message, advice = syntax_fault(error, text)
            self.problems.append(Problem(message, self._at(mark), advice, "yaml-invalid"))
            if mark[0] and len(self.problems) < MAX_SYNTAX_ERRORS:
                return _behind(text, mark[0])
        except (ValueError, OverflowError) as error:
            # PyYAML without libyaml does not check the number in an escape like "\UFFFFFFFF".
            message = f"not valid YAML: {error}"
            self.problems.append(Problem(message, self.whole, code="yaml-invalid"))
        return None

    def _document(self) -> Document | None:
        self.ended.update(self.anchors)
        self.anchors, self.marks, self.blocks, self.size = {}, {}, {}, 0
        start = next(self.events)
        mark = _mark(start)
        self.documents += 1
        if self.documents > MAX_DOCUMENTS:
            raise _UnreadableError(
                f"the file has more than {MAX_DOCUMENTS} documents", mark, "split it"
            )
        before = len(self.problems)
        body = self._value(start, ())
        next(self.events)  # the document's end
        if any(problem.code == SEPARATOR_MISSING for problem in self.problems[before:]):
            return None  # other findings would be consequences
        if body is None or body in ({}, []):
            return None
        if isinstance(body, dict):
            return Document(body, self._at(mark), self.marks, self.blocks)
        name = "list" if isinstance(body, list) else "single value"
        message = f"the document is a {name}, but must be an object with apiVersion and kind"
        self._report(self.problems, "document-not-kubernetes", message, mark)
        return None

    def _value(self, event: yaml.NodeEvent, path: Path) -> object:
        if len(path) > MAX_DEPTH:
            raise _UnreadableError(f"the nesting has more than {MAX_DEPTH} levels", _mark(event))
        self.values += 1
        if self.values > MAX_VALUES:
            raise _UnreadableError(
                f"the file has more than {MAX_VALUES} values", _mark(event), "split it"
            )
        self._count(1, event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.anchor is None:
            return self._content(event, path)
        anchor = self.anchors[event.anchor] = _Anchor()
        before, values_before = self.size, self.expanded_values
        value = self._content(event, path)
        anchor.value, anchor.size, anchor.complete = value, self.size - before, True
        anchor.values = self.expanded_values - values_before
        return value

    def _content(self, event: yaml.NodeEvent, path: Path) -> object:
        value: object
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.style == "|":
                self.blocks[path] = self._text_column(event)
            elif event.style == ">" and path[:1] == ("data",):
                self._check_folded(event, path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path)
        else:
            value = self._mapping(path)
        self.size += 1
        return value

    def _check_folded(self, event: yaml.ScalarEvent, path: Path) -> None:
        """Warn of a mapping or list whose lines become one text."""
        last = event.end_mark.line if event.end_mark else 0
        lines = [line for line in self.lines[_mark(event)[0] : last] if line.strip()]
        if len(lines) > 1 and all(map(ENTRY.match, lines)):
            message = (
                f"{path[-1]}: > joins these {len(lines)} lines to one text: {event.value[:60]!r}"
            )
            where, advice = self._at(_mark(event)), "write | to keep the lines"
            self.warnings.append(Problem(message, where, advice, "config-value-folded"))

    def _text_column(self, event: yaml.ScalarEvent) -> int:
        """Return the column of the first character of a literal block scalar; 0 if unknown."""
        first = next((line for line in event.value.split("\n") if line.strip()), "")
        for number in range(_mark(event)[0] if first else len(self.lines), len(self.lines)):
            line = self.lines[number].rstrip()
            if line:
                return len(line) - len(first.rstrip()) + 1
        return 0

    def _count(self, values: int, event: yaml.NodeEvent) -> None:
        self.expanded_values += values
        if self.max_values is not None and self.expanded_values > self.max_values:
            raise _UnreadableError(f"more than {self.max_values} values are too many", _mark(event))

    def _alias(self, event: yaml.AliasEvent) -> object:
        anchor = self.anchors.get(str(event.anchor))
        if anchor is None and event.anchor in self.ended:
            raise _UnreadableError(
                f"the alias *{event.anchor} has no anchor &{event.anchor} in its document",
                _mark(event),
                "anchors end with their document, at ---: write the value in this one, too",
            )
        if anchor is None:
            raise _UnreadableError(
                f"the alias *{event.anchor} has no anchor &{event.anchor} before it", _mark(event)
            )
        if not anchor.complete:
            raise _UnreadableError(
                f"the alias *{event.anchor} is inside its own anchor", _mark(event)
            )
        self.size += anchor.size
        self._count(anchor.values, event)
        if self.size > MAX_SIZE:
            raise _UnreadableError(
                "the expanded aliases make the document too large",
                _mark(event),
                "write the values out, or repeat fewer of them",
            )
        return anchor.value

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text: str = event.value
        self.size += len(text)
        if not text.isascii() and SURROGATE.search(text):
            raise _UnreadableError("the escape is not a character", _mark(event))
        if event.tag is not None:
            try:
                return tagged(text, event.tag)
            except YAMLError as error:
                raise _UnreadableError(error.message, _mark(event)) from error
        # implicit[0] marks a plain scalar, whose text determines its type.
        return self.scalar(text) if event.implicit[0] else text

    def _sequence(self, path: Path) -> list[object]:
        items: list[object] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            here = (*path, len(items))
            self.marks[here] = _entry_mark(event, event)
            items.append(self._value(event, here))
        return items

    def _mapping(self, path: Path) -> dict[str, object]:
        entries: dict[str, object] = {}
        merges: list[tuple[object, Mark]] = []
        repeated: list[tuple[str, int, Mark]] = []
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if _is_merge(event):
                if merges:
                    lines = f"{merges[-1][1][0]} and {_mark(event)[0]}"
                    message = f"the key '<<' is duplicate, on lines {lines}; kustomize refuses it"
                    advice = "write one << with a list"
                    self._report(self.warnings, "yaml-key-duplicate", message, _mark(event), advice)
                merges.append((self._value(next(self.events), (*path, MERGE_KEY)), _mark(event)))
                continue
            key = self._key(event)
            here = (*path, key)
            if key in entries:
                repeated.append((key, self.marks[here][0], _mark(event)))
            value = next(self.events)
            self.marks[here] = _entry_mark(event, value)
            entries[key] = self._value(value, here)
        if path or not self._separators(repeated):
            for key, first, mark in repeated:
                lines = f"{first} and {mark[0]}"
                message = f"the key {key!r} is duplicate, on lines {lines}; the last one counts"
                self._report(
                    self.warnings, "yaml-key-duplicate", message, mark, "remove one of them"
                )
        for merged, mark in merges:
            _merge(entries, merged, mark)
        return entries

    def _separators(self, repeated: Sequence[tuple[str, int, Mark]]) -> bool:
        """Report where a document begins inside another one; return False if none does."""
        keys = {key for key, _, _ in repeated} & set(BEGINNING)
        if len(keys) < len(BEGINNING):
            return False
        for key, _, mark in repeated:
            if key == next(name for name, _, _ in repeated if name in keys):
                message = "a second document begins here, without --- before it: the first is lost"
                advice = "write --- on a line of its own before it"
                self._report(self.problems, SEPARATOR_MISSING, message, mark, advice)
        return True

    def _key(self, event: yaml.Event) -> str:
        """Return a key as text.

        A decimal number becomes its text. Any other key that is not a string is a problem, because
        its text is ambiguous.
        """
        if isinstance(event, yaml.ScalarEvent):
            key = self._scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = _Anchor(key, len(event.value), complete=True)
        elif isinstance(event, yaml.AliasEvent):
            key = self._alias(event)
        else:
            raise _UnreadableError("a list or an object cannot be a key", _mark(event))
        if isinstance(key, str):
            return key
        text = event.value if isinstance(event, yaml.ScalarEvent) else str(key)
        if type(key) is int and str(key) == text:
            return text  # as Kubernetes writes the number when it converts the key to JSON
        name = {bool: "boolean", type(None): "null"}.get(type(key), "number")
        self._report(
            self.problems,
            "yaml-key-not-text",
            f"the key {text!r} is a {name} in YAML, but keys must be strings",
            _mark(event),
            f'write it in quotes: "{text}"',
        )
        return text

    def _report(
        self, problems: list[Problem], code: str, message: str, mark: Mark, advice: str = ""
    ) -> None:
        """Add a problem or warning; stop after `MAX_PROBLEMS`."""
        problems.append(Problem(message, self._at(mark), advice, code))
        if len(self.problems) + len(self.warnings) >= MAX_PROBLEMS:
            raise _UnreadableError(
                f"the file has {MAX_PROBLEMS} problems: the rest of it is not read", mark
            )

    def _at(self, mark: Mark) -> Location:
        return Location(self.whole.repository, self.whole.path, *mark)


def _behind(text: str, line: int) -> str | None:
    """Return the documents behind the one with an error on a line, with empty lines before them."""
    first = len(text) - len(text.lstrip("\n"))
    start = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
    separator = SEPARATOR.search(text, max(start, first + 1))
    if separator is None:
        return None
    return "\n" * text.count("\n", 0, separator.start()) + text[separator.start() :]


def _is_merge(event: yaml.Event) -> bool:
    """Whether a key is YAML 1.1's merge key, which is not quoted."""
    return isinstance(event, yaml.ScalarEvent) and event.value == MERGE_KEY and event.implicit[0]


def _merge(entries: dict[str, object], merged: object, mark: Mark) -> None:
    """Add the entries of `<<` whose keys are missing; the first of several sources wins."""
    for source in merged if isinstance(merged, list) else [merged]:
        if not isinstance(source, Mapping):
            raise _UnreadableError("the value of << must be an object or a list of objects", mark)
        for key, value in source.items():
            entries.setdefault(key, value)


def _entry_mark(key: yaml.Event, value: yaml.Event) -> EntryMark:
    """Return the place of a key with the column of its value; a list item is both key and value."""
    begin: Any = key.start_mark  # each event of a parser has a place
    after: Any = value.start_mark
    line, column = begin.line + 1, begin.column + 1
    return line, column, after.column + 1 if after.line == begin.line else column


def _mark(event: yaml.Event) -> Mark:
    return counted_from_one(event.start_mark)


def counted_from_one(mark: Any) -> Mark:
    """Convert a mark of PyYAML or of libyaml, which count from 0; (0, 0) for None."""
    return (int(mark.line) + 1, int(mark.column) + 1) if mark else (0, 0)


def error_message(error: yaml.YAMLError) -> str:
    """Return PyYAML's words without its places."""
    if isinstance(error, yaml.MarkedYAMLError):
        return ", ".join(part for part in (error.context, error.problem) if part)
    if isinstance(error, yaml.reader.ReaderError):
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return f"#x{code:04x}: {error.reason}"
    return str(error)


def syntax_fault(error: yaml.YAMLError, text: str) -> tuple[str, str]:
    """Return the message about a syntax error, with the line where its value begins, and advice."""
    tab = tab_fault(error, text)
    if tab:
        return f"not valid YAML: {tab}", "write spaces"
    message, advice = error_message(error), ""
    if "cannot start any token" in message:
        advice = "write the value in quotes"
    _, sentence, meant = _misplaced(error, text)
    message, advice = message + sentence, advice or meant
    line = counted_from_one(getattr(error, "context_mark", None))[0]
    opened = next((name for word, name in _OPENED.items() if word in message), "")
    if opened and 0 < line < error_mark(error, text)[0]:
        message += f"; the {opened} begins on line {line}"
        advice = advice or f"close the {opened}"
    return f"not valid YAML: {message}", advice


_OPENED: Final = {
    "quoted scalar": "quoted text",
    "flow sequence": "list",
    "flow mapping": "mapping",
}


def error_mark(error: yaml.YAMLError, text: str) -> Mark:
    """Return the place of a syntax error; (0, 0) if it is unknown."""
    if isinstance(error, yaml.MarkedYAMLError):
        # libyaml counts the end of a text without a final newline as a line.
        last = text.count("\n") + (0 if text.endswith("\n") else 1)
        line, column = counted_from_one(error.problem_mark or error.context_mark)
        misplaced, *_ = _misplaced(error, text)
        if misplaced not in {0, line}:
            return misplaced, _indentation(text.split("\n")[misplaced - 1]) + 1
        return (line, column) if line <= last else (last, 0)
    if isinstance(error, yaml.reader.ReaderError):
        start = text.rfind("\n", 0, error.position) + 1
        return text.count("\n", 0, error.position) + 1, error.position - start + 1
    return 0, 0


NO_BLANK: Final = "has no blank behind the colon"
_KEYED: Final = re.compile(r"(?P<key> *(?:- +)*[^\s'\"{\[#&*!|>%@`-][^\s:]*):(?P<rest>.*)")
"""A row that has a key."""


def _misplaced(error: yaml.YAMLError, text: str) -> tuple[int, str, str]:
    """Return the line that makes libyaml refuse a line behind it, a sentence, and advice.

    libyaml finds a second colon, or a key in no column of its block, where the next key begins.
    """
    message = error_message(error)
    rows = text.split("\n")
    line = counted_from_one(getattr(error, "problem_mark", None))[0]
    if not 0 < line <= len(rows):
        return 0, "", ""
    if "could not find expected ':'" in message:
        begun = counted_from_one(getattr(error, "context_mark", None))[0]
        advice = "write key: value, or indent it as a part of the text above"
        return begun, "; this line has no colon", advice
    is_second = "mapping values are not allowed" in message
    above = next((number for number in range(line - 1, 0, -1) if rows[number - 1].strip()), 0)
    number = above if is_second else line
    found = _KEYED.match(rows[number - 1]) if number else None
    return _misplaced_key(rows, line, number, found) if found else (0, "", "")


def _misplaced_key(
    rows: Sequence[str], line: int, number: int, found: re.Match[str]
) -> tuple[int, str, str]:
    """Return what is wrong with the key of a row, which is refused there or on the next line."""
    key, own = found["key"].strip(" -"), _indentation(rows[number - 1])
    around = _indentations_around(rows, number)
    wanted = max(around)
    is_left, is_right = 0 <= own < wanted, own > wanted >= 0 and number == line
    if len(around) == 1 and (is_left or is_right):
        by = f"{counted(abs(wanted - own), 'blank')} to the {'left' if is_left else 'right'}"
        sentence = f"; {key} stands {by} of the lines around it"
        return number, sentence, "indent it like the lines around it"
    if number != line and found["rest"][:1].strip():
        return number, f"; {key}: {NO_BLANK}", f"write {key}: and a blank"
    deeper = _indentation(rows[line - 1]) - own
    if number == line or deeper <= 0 or not found["rest"].strip():
        return 0, "", ""
    where = f"{counted(deeper, 'blank')} deeper than {key} above it, which has a value"
    return line, f"; this line stands {where}", "indent both alike, or remove the value above"


def _indentations_around(rows: Sequence[str], number: int) -> set[int]:
    """Return the indentations of the row before a line, and of the one behind it."""
    before = (row for row in reversed(rows[: number - 1]) if row.strip())
    behind = (row for row in rows[number:] if row.strip())
    found = [next(before, None), next(behind, None)]
    return {-1 if row is None else _indentation(row) for row in found}


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def tab_fault(error: yaml.YAMLError, text: str) -> str:
    """Say which line of a syntax error begins with a tab; "" if none does."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return ""
    lines = text.split("\n")
    for mark in (error.problem_mark, error.context_mark):
        number = counted_from_one(mark)[0]
        if 0 < number <= len(lines) and INDENTING_TAB.match(lines[number - 1]):
            return f"line {number} is indented with a tab, which YAML forbids"
    return ""
