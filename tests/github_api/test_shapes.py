from __future__ import annotations

from typing import Any

import pytest

from tools.github_api.shapes import differences, shape


def test_shape() -> None:
    assert shape({"a": [{"b": 1}, {"b": None, "c": True}], "d": "x"}) == {
        "$": {"object"},
        "$.a": {"array"},
        "$.a[]": {"object"},
        "$.a[].b": {"number", "null"},
        "$.a[].c": {"boolean"},
        "$.d": {"string"},
    }


@pytest.mark.parametrize(
    ("recorded", "ours", "expected"),
    [
        ({"a": 1}, {"a": 2}, []),
        ({"a": 1}, {}, ["missing $.a"]),
        ({}, {"a": {"b": 1}}, ["added $.a"]),
        ({"a": 1}, {"a": "1"}, ["kind $.a (recorded: number, ours: string)"]),
        ({"a": None}, {"a": {"b": 1}}, ["kind $.a (recorded: null, ours: object)"]),
        ({"a": [1]}, {"a": []}, []),
        ({"a": [{"b": 1}]}, {"a": [{}]}, ["missing $.a[].b"]),
        ([{"b": 1}], [{"b": 1}, {"b": 2}], []),
        ({}, [], ["kind $ (recorded: object, ours: array)"]),
    ],
)
def test_differences(recorded: Any, ours: Any, expected: list[str]) -> None:
    assert [str(difference) for difference in differences(shape(recorded), shape(ours))] == expected
