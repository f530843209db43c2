"""Numbers as Go's strconv and encoding/json read and write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.numerals import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    RangeError,
    format_float,
    json_number,
    parse_float,
    parse_int,
    parse_uint,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("12", 12), ("017", 15), ("0o17", 15), ("0B101", 5), ("0xfF", 255), ("1_000", 1000), ("0_7", 7),
     ("0x_1", 1), (str(MAX_UINT64), MAX_UINT64), ("0" * 100, 0)],
)  # fmt: skip
def test_parse_uint(text: str, value: int) -> None:
    assert parse_uint(text) == value


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "08", "0x", "0b2", "1__0", "_1", "1_", "1.0", "a", "١", "0x_", " 1"]
)
def test_parse_uint_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="invalid syntax"):
        parse_uint(text)


@pytest.mark.parametrize("text", [str(MAX_UINT64 + 1), "0x1" + "0" * 16, "9" * 10_000])
def test_parse_uint_refuses_more_than_64_bits(text: str) -> None:
    with pytest.raises(RangeError, match="value out of range"):
        parse_uint(text)


@pytest.mark.parametrize(
    ("text", "value"), [("-1", -1), ("+0x10", 16), ("-0", 0), (str(MIN_INT64), MIN_INT64)]
)
def test_parse_int(text: str, value: int) -> None:
    assert parse_int(text) == value


def test_parse_int_refuses_more_than_64_bits() -> None:
    with pytest.raises(RangeError):
        parse_int(str(MAX_INT64 + 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("1_0.5", 10.5), ("0x1p-2", 0.25), ("0x.8p1", 1.0),
     ("0x_1p0", 1.0), ("inf", math.inf), ("-Infinity", -math.inf), ("1e-400", 0.0), ("0x0p99999999999", 0.0)],
)  # fmt: skip
def test_parse_float(text: str, value: float) -> None:
    assert parse_float(text) == value


@pytest.mark.parametrize(
    "text", ["", ".", "e1", "1e", "0x1", "0x.p1", "1__0", "_1", "1,5", "infin", "١"]
)
def test_parse_float_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="invalid syntax"):
        parse_float(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "0x1p1024", "0x1p999999999999"])
def test_parse_float_refuses_the_infinite(text: str) -> None:
    with pytest.raises(RangeError):
        parse_float(text)


@pytest.mark.parametrize(
    ("value", "verb", "precision", "text"),
    [
        (100000.0, "g", -1, "100000"),
        (1e6, "g", -1, "1e+06"),
        (1e21, "g", -1, "1e+21"),
        (0.0001, "g", -1, "0.0001"),
        (1e-5, "g", -1, "1e-05"),
        (-0.0, "g", -1, "-0"),
        (1e21, "f", -1, "1000000000000000000000"),
        (1.5, "e", -1, "1.5e+00"),
        (1e-7, "G", -1, "1E-07"),
        (2.5, "f", 0, "2"),
        (1234.5678, "g", 0, "1e+03"),
        (1.0, "b", -1, "4503599627370496p-52"),
        (5e-324, "b", -1, "1p-1074"),
        (0.0, "b", -1, "0p-1074"),
        (1.0, "x", -1, "0x1p+00"),
        (0.0, "x", -1, "0x0p+00"),
        (1.9999, "x", 1, "0x1.0p+01"),
        (-255.5, "X", 3, "-0X1.FF0P+07"),
        (5e-324, "x", -1, "0x1p-1074"),
        (math.nan, "e", 3, "NaN"),
        (math.inf, "f", -1, "+Inf"),
        (-math.inf, "f", -1, "-Inf"),
    ],
)
def test_format_float(value: float, verb: str, precision: int, text: str) -> None:
    assert format_float(value, verb, precision) == text


@given(FINITE, st.sampled_from("efgEGxX"))
def test_the_fewest_digits_tell_the_value(value: float, verb: str) -> None:
    assert parse_float(format_float(value, verb)) == value


@given(st.integers(0, MAX_UINT64), st.sampled_from(["", "0b", "0o", "0x"]))
def test_integers_read_back(value: int, prefix: str) -> None:
    form = {"": "d", "0b": "b", "0o": "o", "0x": "x"}[prefix]
    assert parse_uint(f"{prefix}{value:{form}}") == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (1000000.0, "1000000"),
        (0.1, "0.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (-123.456, "-123.456"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_json_numbers(value: float, text: str) -> None:
    assert json_number(value) == text


@given(FINITE)
def test_json_numbers_read_back(value: float) -> None:
    assert float(json_number(value)) == value
