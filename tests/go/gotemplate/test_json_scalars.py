"""Texts and numbers as Go's encoding/json writes them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.numerals import json_number
from kalypso_go.gotemplate.text import quote_json


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
def test_numbers(value: float, text: str) -> None:
    assert json_number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value: float) -> None:
    assert float(json_number(value)) == value


@pytest.mark.parametrize(
    ("text", "json_text"),
    [
        ("a/é", '"a/é"'),
        ('"\\\n\x01', r'"\"\\\n\u0001"'),
        ("<a> & \u2028", r'"\u003ca\u003e \u0026 \u2028"'),
        ("\udcff", r'"\ufffd"'),
    ],
    ids=["plain", "control", "html", "no-utf8"],
)
def test_texts(text: str, json_text: str) -> None:
    assert quote_json(text) == json_text


@given(st.text())
def test_texts_read_back(text: str) -> None:
    assert json.loads(quote_json(text)) == text
