"""JSON as Go reads it, and numbers as Go prints them; the oracle's cases hold the errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.json_values import (
    Json,
    Number,
    big_float_text,
    canonical_text,
    decode,
    parse_number,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def plain(value: Json) -> object:
    if isinstance(value, Number):
        return int(value.value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_values_come_back(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert plain(decode(text)) == value


@given(st.text() | st.text(alphabet='{}[]",:0123456789.-+eEtrufalsn \\/u'))
@example('"\\ud800\\u0041"')
@example('"\\ud800\\ud800\\udc00"')
def test_every_text_ends_with_a_value_or_an_error(text: str) -> None:
    try:
        outcome = canonical_text(decode(text))
    except SchemaError as error:
        outcome = str(error)

    assert outcome


@pytest.mark.parametrize(
    "text", [lambda n: "[" * n + "]" * n, lambda n: '{"a":' * n + "1" + "}" * n]
)
def test_nesting_is_bounded(text: Callable[[int], str]) -> None:
    decode(text(100))

    with pytest.raises(SchemaError, match="nested more than 100 levels deep"):
        decode(text(102))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0", "0"),
        ("-0.0", "0"),
        ("15", "15"),
        ("-15.50", "-15.5"),
        ("999999", "999999"),
        ("1000000", "1e+06"),
        ("123456789", "1.23456789e+08"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1e300", "1e+300"),
        ("18446744073709551615", "1.8446744073709551615e+19"),
        ("0.33333333333333333333333333", "0.33333333333333333333333333"),
    ],
)
def test_big_float_text(number: str, text: str) -> None:
    assert big_float_text(Number(number).value) == text


@given(st.integers(-(10**18), 10**18), st.integers(-30, 30))
def test_big_float_text_of_up_to_eighteen_digits_is_exact(digits: int, exponent: int) -> None:
    exact = digits * Fraction(10) ** exponent

    assert Fraction(big_float_text(exact)) == exact


@pytest.mark.parametrize(
    ("text", "int64"),
    [("5", 5), ("-0", 0), ("5.0", None), ("1e2", None), ("9223372036854775808", None)],
)
def test_only_plain_integers_are_int64(text: str, int64: int | None) -> None:
    assert Number(text).int64 == int64


@pytest.mark.parametrize("text", ["1.0", "1e2", "250e-1", "-0.0", "2.5", "1e-1"])
def test_whole_numbers_are_integers_in_every_notation(text: str) -> None:
    assert Number(text).is_integer == (Fraction(text).denominator == 1)


@pytest.mark.parametrize("text", ["1e401", "1e-401", "9" * 401, "0." + "9" * 401, "1e999999999"])
def test_too_many_digits_are_an_error(text: str) -> None:
    with pytest.raises(SchemaError, match="more than 400 digits: write a smaller or rounder one"):
        parse_number(text)
