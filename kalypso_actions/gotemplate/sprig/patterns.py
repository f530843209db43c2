r"""Regular expressions by Go's rules: RE2 does the matching, the walk from match to match is Go's.

RE2 needs time in proportion to the text for each search, whatever the pattern. Both libraries read
the same language, but for `\C`, and name a few mistakes differently. Bytes that are not UTF-8 are
read, and come out, as U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import re2

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.quoting import can_backquote, quote
from kalypso_actions.gotemplate.text import to_bytes

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
"""RE2's words and Go's, where they are not the same."""

_ANY_BYTE = re.compile(r"(?:\\[^C]|[^\\])*\\C", re.DOTALL)

_SCAN = 128
"""How many bytes RE2 scans in the time that other functions take for one."""

_REFERENCE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})?")
_GROUP = re.compile("0|[1-9][0-9]{0,8}")
"""The number of a group; with other digits it is a name."""

Span = tuple[int, int]


class PatternError(ValueError):
    """A pattern that is none, with Go's text."""


class Expression:
    """A compiled pattern. The texts it searches are bytes."""

    def __init__(self, pattern: str) -> None:
        if _ANY_BYTE.match(pattern):
            raise PatternError(_explanation(pattern, b"invalid escape sequence: \\C"))
        options = re2.Options()
        options.log_errors = False
        try:
            self._regexp = re2.compile(to_bytes(pattern), options)
        except re2.error as error:
            raise PatternError(_explanation(pattern, error.args[0])) from None
        self._names = {name.decode(): index for name, index in self._regexp.groupindex.items()}

    def search(self, budget: Budget, data: bytes, start: int = 0) -> list[Span] | None:
        """The first match from `start` on: where it lies, and where each of its groups."""
        budget.spend((len(data) - start) // _SCAN + 1, "the regular expression")
        match = self._regexp.search(data, start)
        if match is None:
            return None
        return [match.span(group) for group in range(self._regexp.groups + 1)]

    def find_all(self, budget: Budget, data: bytes, count: int) -> Iterator[Span]:
        """Where the first `count` matches lie, all where it is negative.

        An empty match right behind another does not count.
        """
        position, previous_end, found = 0, -1, 0
        while position <= len(data) and found != count:
            spans = self.search(budget, data, position)
            if spans is None:
                return
            start, end = spans[0]
            if end > position or start != previous_end:
                found += 1
                yield start, end
            position = end if end > position else _next_rune(data, position)
            previous_end = end

    def replace_all(self, budget: Budget, data: bytes, replacement: str | bytes) -> bytes:
        """Every match replaced; `$1` and `${name}` in a replacement that is a `str` are groups."""
        parts: list[bytes] = []
        size = last_end = position = 0
        while position <= len(data):
            spans = self.search(budget, data, position)
            if spans is None:
                break
            start, end = spans[0]
            parts.append(data[last_end:start])
            if end > last_end or start == 0:
                parts.append(
                    replacement
                    if isinstance(replacement, bytes)
                    else self._expand(replacement, data, spans)
                )
            size += sum(map(len, parts[-2:]))
            budget.fit(size, "the replacement")
            last_end = end
            position = max(end, _next_rune(data, position))
        return b"".join([*parts, data[last_end:]])

    def _expand(self, template: str, data: bytes, spans: list[Span]) -> bytes:
        """The replacement with its references replaced; unknown groups are empty."""

        def refer(match: re.Match[str]) -> str:
            dollar, name, braced = match.groups()
            name = name or braced
            if dollar or not name:
                return "$"
            group = int(name) if _GROUP.fullmatch(name) else self._names.get(name, -1)
            start, end = spans[group] if 0 <= group < len(spans) else (0, 0)
            return data[max(start, 0) : max(end, 0)].decode()

        return to_bytes(_REFERENCE.sub(refer, template))


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Expression:
    """The expression for a pattern; raises `PatternError`."""
    return Expression(pattern)


def _explanation(pattern: str, message: bytes) -> str:
    """Go's text for what is wrong with a pattern."""
    mistake, _, culprit = message.decode("utf-8", "surrogateescape").partition(": ")
    if mistake == "trailing \\":
        mistake, culprit = "trailing backslash at end of expression", ""
    if mistake == "invalid UTF-8":
        culprit = pattern
    return f"error parsing regexp: {_MISTAKES.get(mistake, mistake)}: `{culprit}`"


def quoted_pattern(pattern: str) -> str:
    """The pattern as Go names it in an error."""
    return f"`{pattern}`" if can_backquote(pattern) else quote(pattern)


def _next_rune(data: bytes, position: int) -> int:
    """Where the rune behind the one at `position` begins."""
    position += 1
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position
