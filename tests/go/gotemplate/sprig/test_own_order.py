"""`keys` and `values` return the order of the keys, where Go's order is random."""

from __future__ import annotations

import pytest

from tests.go.gotemplate.sprig.rendering import render

DATA = {"b": 2, "a": 3, "é": 4, "B": 1, "\U0001f600": 6, "\uffff": 5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{ keys . | join "," }}', "B,a,b,é,\uffff,\U0001f600"),
        ('{{ values . | join "," }}', "1,3,2,4,5,6"),
        ('{{ keys (dict "z" 1) (dict "b" 1 "a" 2) | join "," }}', "z,a,b"),
    ],
)
def test_keys_and_values_are_in_order(text: str, expected: str) -> None:
    assert render(text, DATA) == expected
