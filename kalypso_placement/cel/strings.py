"""The functions on strings: cel-go's extension, and Kubernetes' regular expressions.

https://github.com/google/cel-go/blob/master/ext/README.md#strings
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import re2

from kalypso_go.gotemplate.numerals import format_float
from kalypso_placement.cel.limits import MAX_PRECISION, TooLargeError, check_length
from kalypso_placement.cel.operators import to_string
from kalypso_placement.cel.values import (
    Duration,
    EvaluationError,
    Function,
    Timestamp,
    TypeName,
    Value,
    from_key,
    is_number,
)

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip


@lru_cache(maxsize=512)
def _pattern(text: str) -> Any:
    try:
        return re2.compile(text, _OPTIONS)
    except re2.error as error:
        raise EvaluationError(f"invalid regular expression: {text}") from error


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    matches = (match.group(0) for match in _pattern(pattern).finditer(text))
    return list(islice(matches, limit if limit > 0 else None))


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match.group(0) if match else ""


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


def _char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise EvaluationError(f"index out of range: {at}")
    return text[at : at + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not 0 <= start <= len(text):
        if start > len(text) > 0 or start < 0:
            raise EvaluationError(f"index out of range: {start}")
        return -1
    return text.find(part, start)


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if end is None:
        return len(text) if not part else text.rfind(part)
    if not part:
        return end
    if not 0 <= end <= len(text):
        raise EvaluationError(f"index out of range: {end}")
    return text.rfind(part, 0, end + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    if not 0 <= start <= end <= len(text):
        raise EvaluationError(f"index out of range: {start}, {end}")
    return text[start:end]


def _join(parts: list[str], separator: str = "") -> str:
    check_length(sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    check_length(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count if count >= 0 else -1)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        if limit < 0 or len(text) <= limit:
            return list(text)
        return [*text[: limit - 1], text[limit - 1 :]]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _ascii(text: str, *, upper: bool) -> str:
    return "".join((c.upper() if upper else c.lower()) if c.isascii() else c for c in text)


def _quote(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'


def _format(text: str, args: list[Value]) -> str:
    """Format as cel-go's `format`: %s, %d, %f, %e, %b, %x, %X, %o with an optional precision."""
    result: list[str] = []
    at = number = 0
    while at < len(text):
        if text[at] != "%":
            result.append(text[at])
            at += 1
            continue
        if text[at + 1 : at + 2] == "%":
            result.append("%")
            at += 2
            continue
        at, precision = _precision(text, at + 1)
        if at >= len(text):
            raise EvaluationError("unexpected end of the format")
        if number >= len(args):
            raise EvaluationError(f"index {number} out of range")
        result.append(_clause(text[at], precision, args[number]))
        number += 1
        at += 1
    return "".join(result)


def _precision(text: str, at: int) -> tuple[int, int | None]:
    if text[at : at + 1] != ".":
        return at, None
    end = at + 1
    while "0" <= text[end : end + 1] <= "9":
        end += 1
    if end == at + 1:
        raise EvaluationError("the precision has no digits")
    if end - at > len(str(MAX_PRECISION)) or int(text[at + 1 : end]) > MAX_PRECISION:
        raise TooLargeError
    return end, int(text[at + 1 : end])


def _clause(verb: str, precision: int | None, value: Value) -> str:  # noqa: PLR0911 - one for each verb
    is_whole = isinstance(value, int) and type(value) is not bool
    if verb == "s":
        return _shown(value)
    if verb == "d" and is_whole:
        return str(int(value))
    if verb in "fe" and is_number(value):
        number = float(value)
        if not math.isfinite(number):
            return to_string(number)
        return format(number, f".{6 if precision is None else precision}{verb}")
    if verb == "b" and (is_whole or type(value) is bool):
        return format(int(value), "b")
    if verb == "o" and is_whole:
        return format(int(value), "o")
    if verb in "xX":
        if is_whole:
            return format(int(value), verb)
        if isinstance(value, str | bytes):
            digits = (value.encode("utf-8") if isinstance(value, str) else value).hex()
            return digits.upper() if verb == "X" else digits
    raise EvaluationError(f"%{verb} does not format this type")


def _shown(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        pairs = sorted((_shown(from_key(key)), _shown(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if isinstance(value, TypeName):
        return value.name
    if type(value) is float:
        return format_float(value, "g")
    if isinstance(value, Timestamp | Duration | str | bytes | int):
        return to_string(value)
    raise EvaluationError("%s does not format this type")


STRINGS: Final[Mapping[str, Function]] = {
    "string:contains(string) -> bool": lambda text, part: part in text,
    "string:startsWith(string) -> bool": str.startswith,
    "string:endsWith(string) -> bool": str.endswith,
    "string:matches(string) -> bool": _matches,
    "string:charAt(int) -> string": _char_at,
    "string:indexOf(string) -> int": _index_of,
    "string:indexOf(string, int) -> int": _index_of,
    "string:lastIndexOf(string) -> int": _last_index_of,
    "string:lastIndexOf(string, int) -> int": _last_index_of,
    "list<string>:join() -> string": _join,
    "list<string>:join(string) -> string": _join,
    "strings.quote(string) -> string": _quote,
    "string:replace(string, string) -> string": _replace,
    "string:replace(string, string, int) -> string": _replace,
    "string:reverse() -> string": lambda text: text[::-1],
    "string:split(string) -> list<string>": _split,
    "string:split(string, int) -> list<string>": _split,
    "string:substring(int) -> string": _substring,
    "string:substring(int, int) -> string": _substring,
    "string:trim() -> string": str.strip,
    "string:lowerAscii() -> string": lambda text: _ascii(text, upper=False),
    "string:upperAscii() -> string": lambda text: _ascii(text, upper=True),
    "string:format(list<dyn>) -> string": _format,
    "string:find(string) -> string": _find,
    "string:findAll(string) -> list<string>": _find_all,
    "string:findAll(string, int) -> list<string>": _find_all,
}
STANDARD_STRINGS: Final = frozenset({"contains", "startsWith", "endsWith", "matches"})
"""The functions of CEL itself, which the checker declares."""
