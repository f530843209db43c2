"""Regular expressions: matching, finding, replacing and splitting."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.sprig.patterns import (
    Expression,
    PatternError,
    compiled,
    quoted_pattern,
)
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.text import from_bytes, to_bytes, to_runes
from kalypso_actions.gotemplate.values import (
    BOOL,
    INT,
    STRING,
    STRING_SLICE,
    FunctionError,
    GoSlice,
)


def _must_compile(pattern: str) -> Expression:
    try:
        return compiled(pattern)
    except PatternError as error:
        raise FunctionError(f"regexp: Compile({quoted_pattern(pattern)}): {error}") from None


def _data(text: str) -> bytes:
    return to_bytes(to_runes(text))


@function("regexMatch", STRING, STRING, returns=BOOL, bounded=True)
def regex_match(budget: Budget, pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere; a wrong pattern matches nowhere."""
    try:
        return compiled(pattern).search(budget, _data(text)) is not None
    except PatternError:
        return False


@function("regexFind", STRING, STRING, returns=STRING, bounded=True)
def regex_find(budget: Budget, pattern: str, text: str) -> str:
    """The first match, `""` where there is none."""
    data = _data(text)
    spans = _must_compile(pattern).search(budget, data)
    return from_bytes(data[slice(*spans[0])]) if spans else ""


@function("regexFindAll", STRING, STRING, INT, returns=STRING_SLICE, bounded=True)
def regex_find_all(budget: Budget, pattern: str, text: str, count: int) -> GoSlice:
    """The first `count` matches, all where it is negative; a nil list where there is none."""
    data = _data(text)
    spans = _must_compile(pattern).find_all(budget, data, count)
    found = [from_bytes(data[start:end]) for start, end in spans]
    return GoSlice(STRING_SLICE, found, nil=not found)


@function("regexReplaceAll", STRING, STRING, STRING, returns=STRING, bounded=True)
def regex_replace_all(budget: Budget, pattern: str, text: str, replacement: str) -> str:
    """Every match replaced; `$1` and `${name}` stand for groups."""
    return from_bytes(_must_compile(pattern).replace_all(budget, _data(text), replacement))


@function("regexReplaceAllLiteral", STRING, STRING, STRING, returns=STRING, bounded=True)
def regex_replace_all_literal(budget: Budget, pattern: str, text: str, replacement: str) -> str:
    """Every match replaced by the text as it is."""
    literal = to_bytes(replacement)
    return from_bytes(_must_compile(pattern).replace_all(budget, _data(text), literal))


@function("regexSplit", STRING, STRING, INT, returns=STRING_SLICE, bounded=True)
def regex_split(budget: Budget, pattern: str, text: str, count: int) -> GoSlice:
    """The parts between matches, at most `count` where that is positive; a nil list at 0."""
    expression = _must_compile(pattern)
    if count == 0:
        return GoSlice(STRING_SLICE, nil=True)
    data = _data(text)
    if pattern and not data:
        return GoSlice(STRING_SLICE, [""])
    parts: list[bytes] = []
    begin = end = 0
    for start, match_end in expression.find_all(budget, data, count):
        if 0 < count == len(parts) + 1:
            break
        end = start
        if match_end:
            parts.append(data[begin:end])
        begin = match_end
    if end != len(data):
        parts.append(data[begin:])
    return GoSlice(STRING_SLICE, map(from_bytes, parts))
