"""One layer over another: values, origins, and inputs that never change."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.platform_config.merging import Layers

A = Location("test", "a.yaml", 1)
B = Location("test", "b.yaml", 2)
C = Location("test", "c.yaml", 3)


def merged(*values: object) -> object:
    layers = Layers()
    for value in values:
        layers.add("K", value, A)
    return layers.values["K"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("x", "y", "y", id="text"),
        pytest.param({"a": 1}, "y", "y", id="text over mapping"),
        pytest.param(["a"], {"b": 1}, {"b": 1}, id="mapping over list"),
        pytest.param({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, id="deep"),
        pytest.param([1, 2], [2, 3], [1, 2, 2, 3], id="scalars are appended"),
        pytest.param(
            [],
            [{"x": 1}, {"z": 2}],
            [{"x": 1, "z": 2}],
            id="merges into an element appended before",
        ),
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
            id="merges into every equal name",
        ),
        pytest.param(
            [{"name": ["n"], "v": 1}],
            [{"name": ["n"], "v": 2}],
            [{"name": ["n", "n"], "v": 2}],
            id="names may be lists",
        ),
    ],
)
def test_merge(old: object, new: object, expected: object) -> None:
    assert merged(old, new) == expected


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
    merged(merged(old, new), new)
    merged(new, merged(old, new))
    assert (old, new) == before


@given(additions=st.lists(st.tuples(KEYS, VALUES), max_size=5))
def test_every_resulting_value_has_an_origin(additions: list[tuple[str, object]]) -> None:
    layers = Layers()
    for number, (key, value) in enumerate(additions):
        layers.add(key, value, Location("test", "f.yaml", number + 1))
    assert set(layers.origins) == set(_paths(layers.values))
    assert all(layers.origins.values())


def _paths(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    paths = [path] if path else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in items:
        paths += _paths(inner, (*path, step))
    return paths


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


def test_an_element_replaces_the_origins_of_an_earlier_one() -> None:
    layers = Layers()
    layers.add("X", [{"name": "a", "y": {"deep": 1}}], A)
    layers.add("X", [{"name": "a", "y": [1, 2]}, {"name": "a", "y": {"new": 1}}], B)
    assert layers.values == {"X": [{"name": "a", "y": {"new": 1}}]}
    assert set(layers.origins) == set(_paths(layers.values))
    assert layers.origins["X", 0, "y"] == (A, B)
    assert layers.origins["X", 0, "y", "new"] == (B,)


def test_replacing_many_texts_is_fast() -> None:
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
