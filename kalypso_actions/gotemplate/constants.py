"""Numbers as templates write them: values of every type that can hold them."""

from __future__ import annotations

import math
import re

from kalypso_actions.gotemplate.nodes import Number
from kalypso_actions.gotemplate.numerals import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    parse_float,
    parse_int,
    parse_uint,
)
from kalypso_actions.gotemplate.quoting import quote, unquote_char

_FLOAT = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)"
)
_COMPLEX = re.compile(f"({_FLOAT})([+-]{_FLOAT})i")


def character_constant(position: int, text: str) -> Number:
    """`'x'`: the code point; raises ValueError with Go's text."""
    code = unquote_char(text)
    return Number(position, text, code, code, float(code))


def complex_constant(position: int, text: str) -> Number:
    """`1+2i`; raises ValueError with Go's text."""
    match = _COMPLEX.match(text)
    if match is None:
        raise ValueError("syntax error scanning complex number")
    return _simplified(position, text, complex(*map(_scanned_float, match.groups())))


def number_constant(position: int, text: str) -> Number:
    """`12`, `0x1F`, `1_000`, `1.5e3`, `2i` …; raises ValueError with Go's text."""
    if text.endswith("i"):
        imaginary = _attempt_float(text[:-1])
        if imaginary is not None:
            return _simplified(position, text, complex(0, imaginary))
    integer, unsigned = _attempt_int(text), _attempt_uint(text)
    if integer == 0:
        unsigned = 0
    whole = unsigned if integer is None else integer
    if whole is not None:
        return Number(position, text, integer, unsigned, float(whole))
    floating = _attempt_float(text)
    if floating is None:
        raise ValueError(f"illegal number syntax: {quote(text)}")
    if not re.search("[.eEpP]", text):
        raise ValueError(f"integer overflow: {quote(text)}")
    return Number(position, text, _as_int64(floating), _as_uint64(floating), floating)


def _simplified(position: int, text: str, value: complex) -> Number:
    """A complex number without an imaginary part may be used as its real part."""
    if value.imag != 0:
        return Number(position, text, complex=value)
    real = value.real
    return Number(position, text, _as_int64(real), _as_uint64(real), real, value)


def _as_int64(value: float) -> int | None:
    if math.isfinite(value) and value == int(value) and MIN_INT64 <= value <= MAX_INT64:
        return int(value)
    return None


def _as_uint64(value: float) -> int | None:
    if math.isfinite(value) and value == int(value) and 0 <= value <= MAX_UINT64:
        return int(value)
    return None


def _attempt_int(text: str) -> int | None:
    try:
        return parse_int(text)
    except ValueError:
        return None


def _attempt_uint(text: str) -> int | None:
    try:
        return parse_uint(text)
    except ValueError:
        return None


def _attempt_float(text: str) -> float | None:
    try:
        return parse_float(text)
    except ValueError:
        return None


def _scanned_float(text: str) -> float:
    try:
        return parse_float(text)
    except ValueError as error:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: {error}") from None
