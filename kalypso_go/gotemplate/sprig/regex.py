"""Regular expressions: matching, finding, replacing and splitting."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.patterns import (
    Expression,
    PatternError,
    Subject,
    compiled,
    quoted_pattern,
)
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import BOOL, INT, STRING, STRING_SLICE, FunctionError, GoSlice


def _must_compile(budget: Budget, pattern: str) -> Expression:
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
