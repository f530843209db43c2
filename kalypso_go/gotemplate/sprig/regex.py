r"""Regular expressions by Go's rules: RE2 finds each match, and Go's rules select the next one.

Each search of RE2 takes time linear in the text for every pattern. Both libraries accept the same
language except for `\C`, but word some mistakes differently. If a pattern has several mistakes,
they may report different ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

import re2

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import can_backquote, normal, quote, to_bytes, to_runes
from kalypso_go.gotemplate.values import BOOL, INT, STRING, STRING_SLICE, FunctionError, GoSlice


def _must_compile(budget: Budget, pattern: str) -> RegularExpression:
    try:
        return compiled(budget, pattern)
    except PatternError as error:
        raise FunctionError(f"regexp: Compile({quoted_pattern(pattern)}): {error}") from None


@function("regexMatch", STRING, STRING, returns=BOOL, takes_budget=True)
def regex_match(budget: Budget, pattern: str, text: str) -> bool:
    """Return whether the pattern matches somewhere; an invalid pattern does not."""
    try:
        return compiled(budget, pattern).search(budget, Subject(text)) is not None
    except PatternError:
        return False


@function("regexFind", STRING, STRING, returns=STRING, takes_budget=True)
def regex_find(budget: Budget, pattern: str, text: str) -> str:
    """Return the first match, or `""`."""
    subject = Subject(text)
    spans = _must_compile(budget, pattern).search(budget, subject)
    return subject.part(*spans[0]) if spans else ""


@function("regexFindAll", STRING, STRING, INT, returns=STRING_SLICE, takes_budget=True)
def regex_find_all(budget: Budget, pattern: str, text: str, count: int) -> GoSlice:
    """Return the first `count` matches, or all if it is negative; a nil list if there are none."""
    subject = Subject(text)
    spans = _must_compile(budget, pattern).find_all(budget, subject, count)
    matches = [subject.part(start, end) for start, end in spans]
    return GoSlice(STRING_SLICE, matches, nil=not matches)


@function("regexReplaceAll", STRING, STRING, STRING, returns=STRING, takes_budget=True)
def regex_replace_all(budget: Budget, pattern: str, text: str, replacement: str) -> str:
    """Replace every match; `$1` and `${name}` refer to groups."""
    expression = _must_compile(budget, pattern)
    return expression.replace_all(budget, Subject(text), replacement, literal=False)


@function("regexReplaceAllLiteral", STRING, STRING, STRING, returns=STRING, takes_budget=True)
def regex_replace_all_literal(budget: Budget, pattern: str, text: str, replacement: str) -> str:
    """Replace every match by the literal text."""
    expression = _must_compile(budget, pattern)
    return expression.replace_all(budget, Subject(text), replacement, literal=True)


@function("regexSplit", STRING, STRING, INT, returns=STRING_SLICE, takes_budget=True)
def regex_split(budget: Budget, pattern: str, text: str, count: int) -> GoSlice:
    """Split at matches into at most `count` parts if that is positive; a nil list if it is 0."""
    expression = _must_compile(budget, pattern)
    if count == 0:
        return GoSlice(STRING_SLICE, nil=True)
    if pattern and not text:
        return GoSlice(STRING_SLICE, [""])
    subject = Subject(text)
    parts: list[str] = []
    begin = end = 0
    for start, match_end in expression.find_all(budget, subject, count):
        if 0 < count == len(parts) + 1:
            break
        end = start
        if match_end:
            parts.append(subject.part(begin, end))
        begin = match_end
    if end != len(subject.data):
        parts.append(subject.part(begin, len(subject.data)))
    return GoSlice(STRING_SLICE, parts)


_MISTAKES = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "pattern too large - compile failed": "expression too large",
}
"""RE2's error messages, and Go's where they differ."""

_ANY_BYTE = re.compile(r"(?>\\Q.*?(?:\\E|\Z)|\\[^CQ]|[^\\])*+\\C", re.DOTALL)
"""Matches `\\C`, which RE2 accepts and Go does not."""

_GROUPS = re.compile(
    r"""
      \\Q.*?(?:\\E|\Z) | \\. | \[\^?\]?(?>\[:\^?\w+:\]|\\.|[^\]])*+\]
    | ( \( (?: \?P?<([^>]*)> | (?!\?) ) )
    """,
    re.VERBOSE | re.DOTALL,
)
"""Matches the groups of a pattern (the name may be empty), and parts that only look like groups."""

_NAME = re.compile("[A-Za-z0-9_]+")
"""The names of groups that Go accepts; RE2 accepts letters of any script."""

_STEPS = 8
"""RE2 takes at most one step for each byte and instruction; this many count as one character."""

_INSTRUCTION = 16
"""The work of compiling one instruction, in characters."""

_KEPT_SIZE, _KEPT_COUNT = 2_000, 16
"""The most instructions of a cached expression, and the most of these; each may take 8 MB."""

_REFERENCE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})?")
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
"""The number of a group; other digits are a name."""

Span = tuple[int, int]


class PatternError(ValueError):
    """The pattern is invalid; the message is Go's."""


class RegularExpression:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            self._regexp = re2.compile(to_bytes(pattern), options)
        except re2.error as error:
            raise PatternError(_explanation(pattern, error.args[0].decode())) from None
        if _ANY_BYTE.match(pattern):
            raise PatternError(_explanation(pattern, "invalid escape sequence: \\C"))
        self.size: int = self._regexp.programsize
        self._names: list[str] = []
        for group, name in _GROUPS.findall(pattern):
            if name and not _NAME.fullmatch(name):
                raise PatternError(_explanation(pattern, f"invalid named capture: {group}"))
            if group:
                self._names.append(name)

    def search(self, budget: Budget, subject: Subject, start: int = 0) -> list[Span] | None:
        """Return the spans of the first match from `start` on and of its groups."""
        data = subject.data
        while True:
            steps = self.size * (len(data) - start)
            budget.spend(1 + steps // _STEPS, "the regular expression")
            match = self._regexp.search(data, start)
            if match is None:
                return None
            if not subject.is_within_rune(match.start()):
                return [match.span(group) for group in range(self._regexp.groups + 1)]
            # RE2 also matches `\B` between the bytes of a rune; Go does not.
            start = subject.next_rune(match.start())

    def find_all(self, budget: Budget, subject: Subject, count: int) -> Iterator[Span]:
        """Yield the spans of the first `count` matches, or of all if it is negative.

        An empty match directly after another does not count.
        """
        position, previous_end, matches = 0, -1, 0
        while position <= len(subject.data) and matches != count:
            spans = self.search(budget, subject, position)
            if spans is None:
                return
            start, end = spans[0]
            if end > position or start != previous_end:
                matches += 1
                yield start, end
            position = end if end > position else subject.next_rune(position)
            previous_end = end

    def replace_all(
        self, budget: Budget, subject: Subject, replacement: str, *, literal: bool
    ) -> str:
        """Replace every match; unless `literal`, `$1` and `${name}` refer to groups."""
        parts: list[str] = []
        size = last_end = position = 0
        while position <= len(subject.data):
            spans = self.search(budget, subject, position)
            if spans is None:
                break
            start, end = spans[0]
            new = [subject.part(last_end, start)]
            if end > last_end or start == 0:
                new += (
                    [replacement] if literal else self._expand(budget, replacement, subject, spans)
                )
            size += sum(map(len, new))
            budget.fit(size, "the replacement")
            parts.append("".join(new))
            last_end = end
            position = max(end, subject.next_rune(position))
        return "".join([*parts, subject.part(last_end, len(subject.data))])

    def _expand(
        self, budget: Budget, template: str, subject: Subject, spans: list[Span]
    ) -> list[str]:
        """Return the parts of the replacement; references to unknown groups become empty."""
        parts = []
        size = end = 0
        for match in _REFERENCE.finditer(template):
            parts.append(template[end : match.start()])
            end = match.end()
            dollar, name, braced = match.groups()
            name = name or braced
            if dollar or not name:
                parts.append("$")
            else:
                matched = [span for span in self._groups(name, spans) if span[0] >= 0]
                for span in matched[:1]:
                    size += span[1] - span[0]
                    budget.fit(size, "the replacement")
                    parts.append(subject.part(*span))
        return [*parts, template[end:]]

    def _groups(self, name: str, spans: list[Span]) -> list[Span]:
        """Return the spans of the groups with a number or name; Go takes the first that matched."""
        if _NUMBER.fullmatch(name):
            return spans[int(name) :][:1]
        return [
            span
            for group_name, span in zip(self._names, spans[1:], strict=False)
            if group_name == name
        ]


class Subject:
    """A text to search; RE2 reads `data`, with U+FFFD for bytes that are not UTF-8."""

    def __init__(self, text: str) -> None:
        runes = to_runes(text)
        self.data = runes.encode()
        self._text = normal(text)
        self._starts: list[int] = []
        if runes != self._text:
            self._starts = [0, *accumulate(len(rune.encode()) for rune in runes)]

    def part(self, start: int, end: int) -> str:
        """Return the text between two positions in `data`, with its original bytes."""
        if not self._starts:
            return self.data[start:end].decode()
        return self._text[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def is_within_rune(self, position: int) -> bool:
        """Return whether a position is inside a rune."""
        return position < len(self.data) and self.data[position] & 0xC0 == 0x80

    def next_rune(self, position: int) -> int:
        """Return the start of the rune after `position`."""
        position += 1
        while self.is_within_rune(position):
            position += 1
        return position


_kept: dict[str, RegularExpression] = {}


def compiled(budget: Budget, pattern: str) -> RegularExpression:
    """Return the compiled pattern; raise `PatternError` if it is invalid."""
    expression = _kept.get(pattern)
    if expression is None:
        expression = RegularExpression(pattern)
        if expression.size <= _KEPT_SIZE:
            if len(_kept) >= _KEPT_COUNT:
                _kept.clear()
            _kept[pattern] = expression
    budget.spend(_INSTRUCTION * expression.size, "the regular expression")
    return expression


def _explanation(pattern: str, message: str) -> str:
    """Return Go's error message for RE2's."""
    mistake, _, culprit = message.partition(": ")
    if mistake == "trailing \\":
        mistake, culprit = "trailing backslash at end of expression", ""
    if mistake == "invalid UTF-8":
        culprit = pattern
        if pattern.endswith("\\x{"):
            mistake, culprit = "invalid escape sequence", "\\x{"
    return f"error parsing regexp: {_MISTAKES.get(mistake, mistake)}: `{culprit}`"


def quoted_pattern(pattern: str) -> str:
    """Return the pattern as Go quotes it in an error."""
    return f"`{pattern}`" if can_backquote(pattern) else quote(pattern)
