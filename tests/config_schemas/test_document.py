"""Configurations as JSON: texts become numbers as Go's strconv reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.config_schemas.json_values import Number, number_or_text, to_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("+5", 5),
        ("007", 7),
        ("-9223372036854775808", -(1 << 63)),
        ("9223372036854775807", (1 << 63) - 1),
        ("00000000000000000000000000001152921504606846977", 1152921504606846977),
        ("9223372036854775808", 9223372036854775808.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1_000", 1000.0),
        ("0x1p4", 16.0),
        ("0X_1.8P+1", 3.0),
        ("1e-400", 0.0),
        ("Infinity", math.inf),
        ("-inf", -math.inf),
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert (number_or_text(text), type(number_or_text(text))) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    ["", " 5", "5 ", "+", ".", "e5", "1e", "1,5", "0x10", "0x.p1", "0b1", "1e400", "_1", "1_", "1__0",
     "+nan", "infin", "٣", "true", "--5", "0x1p99999"],
)  # fmt: skip
def test_other_texts_stay(text: str) -> None:
    assert number_or_text(text) == text


def test_not_a_number_is_a_float() -> None:
    value = number_or_text("NaN")

    assert isinstance(value, float)
    assert math.isnan(value)


def test_only_top_level_texts_change() -> None:
    config = {"B": True, "C": ["5"], "D": {"e": "5"}, "F": None}

    document = to_document({**config, "A": "5"})

    number = document.pop("A")
    assert isinstance(number, Number) and number.text == "5"
    assert document == config


@given(st.text(alphabet="0123456789_.+-eExXpPabfin", max_size=12))
def test_every_text_becomes_a_number_or_stays(text: str) -> None:
    value = number_or_text(text)

    assert isinstance(value, int | float) or value == text


@given(st.floats(allow_nan=False))
def test_floats_read_back(value: float) -> None:
    assert number_or_text(repr(value)) == value
