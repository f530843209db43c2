"""Numeric constants of templates, in every type that can hold them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from kalypso_go.gotemplate.nodes import Number
from kalypso_go.gotemplate.numerals import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    parse_float,
    parse_int,
    parse_uint,
)
from kalypso_go.gotemplate.quoting import quote, unquote_char

Value = TypeVar("Value", int, float)

_FLOAT = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)"
)
_COMPLEX = re.compile(f"({_FLOAT})([+-]{_FLOAT})i")


def character_constant(position: int, text: str) -> Number:
    """Parse `'x'` to its code point; raise ValueError with Go's text."""
    code = unquote_char(text)
    return Number(position, text, code, code, float(code))


def complex_constant(position: int, text: str) -> Number:
    """Parse `1+2i`; raise ValueError with Go's text."""
    match = _COMPLEX.match(text)
    if match is None:
        raise ValueError("syntax error scanning complex number")
    return _simplified(position, text, complex(*map(_scanned_float, match.groups())))


def number_constant(position: int, text: str) -> Number:
    """Parse `12`, `0x1F`, `1_000`, `1.5e3`, `2i` …; raise ValueError with Go's text."""
    if text.endswith("i"):
        imaginary = _attempt(parse_float, text[:-1])
        if imaginary is not None:
            return _simplified(position, text, complex(0, imaginary))
    integer, unsigned = _attempt(parse_int, text), _attempt(parse_uint, text)
    if integer == 0:
        unsigned = 0
    whole = unsigned if integer is None else integer
    if whole is not None:
        return Number(position, text, integer, unsigned, float(whole))
    floating = _attempt(parse_float, text)
    if floating is None:
        raise ValueError(f"illegal number syntax: {quote(text)}")
    if not re.search("[.eEpP]", text):
        raise ValueError(f"integer overflow: {quote(text)}")
    return _real(position, text, floating)


def _simplified(position: int, text: str, value: complex) -> Number:
    """Return a complex number; without an imaginary part, it is also a real number."""
    if value.imag != 0:
        return Number(position, text, complex=value)
    return _real(position, text, value.real, value)


def _real(position: int, text: str, real: float, value: complex | None = None) -> Number:
    integer = _as_integer(real, MIN_INT64, MAX_INT64)
    return Number(position, text, integer, _as_integer(real, 0, MAX_UINT64), real, value)


def _as_integer(value: float, least: int, greatest: int) -> int | None:
    if math.isfinite(value) and value == int(value) and least <= value <= greatest:
        return int(value)
    return None


def _attempt(parse: Callable[[str], Value], text: str) -> Value | None:
    try:
        return parse(text)
    except ValueError:
        return None


def _scanned_float(text: str) -> float:
    try:
        return parse_float(text)
    except ValueError as error:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: {error}") from None
