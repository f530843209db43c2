"""One layer over another: values, origins, and inputs that never change."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.platform_config import Layers, merge_values

A = Location("test", "a.yaml", 1)
B = Location("test", "b.yaml", 2)
C = Location("test", "c.yaml", 3)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("x", "y", "y", id="text"),
        pytest.param({"a": 1}, "y", "y", id="text over mapping"),
        pytest.param(["a"], {"b": 1}, {"b": 1}, id="mapping over list"),
        pytest.param({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, id="deep"),
        pytest.param([1, 2], [2, 3], [1, 2, 2, 3], id="scalars are appended"),
        pytest.param([], [{"x": 1}, {"z": 2}], [{"x": 1, "z": 2}], id="just appended takes part"),
        pytest.param(
            [{"name": 1, "v": 1}],
            [{"name": True, "v": 2}],
            [{"name": 1, "v": 1}, {"name": True, "v": 2}],
            id="names are compared with their types",
        ),
        pytest.param(
            [{"name": "a"}, {"name": "a"}],
            [{"name": "a", "v": 1}],
            [{"name": "a", "v": 1}, {"name": "a", "v": 1}],
            id="every equal name",
        ),
        pytest.param(
            [{"name": ["n"], "v": 1}],
            [{"name": ["n"], "v": 2}],
            [{"name": ["n", "n"], "v": 2}],
            id="names that are lists do not end the run",
        ),
    ],
)
def test_merge(old: object, new: object, expected: object) -> None:
    assert merge_values(old, new) == expected


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.sampled_from(["", "a", "b"]))
KEYS = st.sampled_from(["name", "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)


@given(old=VALUES, new=VALUES)
def test_inputs_never_change(old: object, new: object) -> None:
    before = copy.deepcopy((old, new))
    merged = merge_values(old, new)
    merge_values(merged, new)
    merge_values(new, merged)
    assert (old, new) == before


@given(layers=st.lists(st.tuples(KEYS, VALUES), max_size=5))
def test_every_resulting_value_has_an_origin(layers: list[tuple[str, object]]) -> None:
    merged = Layers()
    for number, (key, value) in enumerate(layers):
        merged.add(key, value, Location("test", "f.yaml", number + 1))
    assert set(merged.origins) == set(_paths(merged.values))
    assert all(merged.origins.values())


def _paths(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in items:
        found += _paths(inner, (*path, step))
    return found


def test_origins_name_each_layer_that_set_a_value() -> None:
    layers = Layers()
    layers.add(
        "LOG", {"level": "info", "sinks": [{"name": "file"}, {"name": "otlp", "port": 1}]}, A
    )
    layers.add("LOG", {"level": "debug", "sinks": [{"name": "otlp", "port": 2}]}, B)
    assert layers.origins["LOG",] == (A, B)
    assert layers.origins["LOG", "level"] == (A, B)
    assert layers.origins["LOG", "sinks", 0, "name"] == (A,)
    assert layers.origins["LOG", "sinks", 1, "port"] == (A, B)


def test_origins_where_one_element_replaces_what_another_has_set() -> None:
    layers = Layers()
    layers.add("X", [{"name": "a", "y": {"deep": 1}}], A)
    layers.add("X", [{"name": "a", "y": [1, 2]}, {"name": "a", "y": {"new": 1}}], B)
    assert layers.values == {"X": [{"name": "a", "y": {"new": 1}}]}
    assert set(layers.origins) == set(_paths(layers.values))
    assert layers.origins["X", 0, "y"] == (A, B)
    assert layers.origins["X", 0, "y", "new"] == (B,)


def test_many_replaced_texts_take_no_time() -> None:
    layers = Layers()
    for where in (A, B):
        for number in range(20_000):
            layers.add(f"K{number}", where.path, where)
    assert layers.origins["K1",] == (A, B)


def test_a_replaced_object_leaves_no_origins_behind() -> None:
    layers = Layers()
    layers.add("X", {"deep": {"er": 1}}, A)
    layers.add("X", "text", B)
    assert layers.origins == {("X",): (A, B)}
    layers.add("X", {"other": 1}, C)
    assert layers.origins == {("X",): (A, B, C), ("X", "other"): (C,)}
