"""The JSON form of Go's values."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.values import (
    INT64,
    STRING_MAP,
    STRING_SLICE,
    UINT64,
    YAML_MAP,
    GoInt,
    GoMap,
    GoSlice,
)
from tests.oracle.tagged import canonical, from_tagged, to_tagged

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(VALUES)
def test_a_value_comes_back(value: Any) -> None:
    assert from_tagged(to_tagged(value)) == value


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ({"int": "5"}, 5),
        ({"int64": "-5"}, GoInt(INT64, -5)),
        ({"uint64": "18446744073709551615"}, GoInt(UINT64, 2**64 - 1)),
        ({"float64": "+Inf"}, math.inf),
        ({"float64": "-Inf"}, -math.inf),
        ({"list": [None, True, "x"]}, [None, True, "x"]),
        ({"strs": ["a", "b"]}, GoSlice(STRING_SLICE, ["a", "b"])),
        ({"smap": [["a", {"int": "1"}]]}, {"a": 1}),
        ({"strmap": [["a", "b"]]}, GoMap(STRING_MAP, {"a": "b"})),
        ({"map": [[{"int": "1"}, "a"], [None, "b"]]}, GoMap(YAML_MAP, [(1, "a"), (None, "b")])),
    ],
    ids=lambda parameter: next(iter(parameter), "") if isinstance(parameter, dict) else "",
)
def test_types_survive(encoded: Any, value: Any) -> None:
    decoded = from_tagged(encoded)
    assert decoded == value
    assert type(decoded) is type(value)
    assert to_tagged(decoded) == canonical(encoded)


def test_a_nan_survives() -> None:
    assert to_tagged(from_tagged({"float64": "NaN"})) == {"float64": "NaN"}


def test_pairs_have_one_order() -> None:
    pairs = [["b", {"float64": "1e3"}], ["a", {"list": [{"smap": [["d", True], ["c", False]]}]}]]
    assert canonical({"map": pairs}) == canonical({"map": pairs[::-1]})


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="not a Go value"):
        to_tagged(object())
