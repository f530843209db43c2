"""Configuration values: parsing and merging."""

from __future__ import annotations

from typing import Any

from kalypso_actions.errors import Location
from kalypso_actions.platform_config import parse_value
from kalypso_actions.platform_config.merging import Layers
from tests.oracle.cases import Case, differences, load
from tests.oracle.tagged import canonical, to_tagged

MAX_INT64 = 2**63 - 1


def test_the_value_of_a_text() -> None:
    def ours(case: Case) -> object:
        return canonical(spelled(parse_value(case.request["text"])))

    assert differences(load("config"), ours, lambda case: case.output) == {}


def test_one_value_over_another() -> None:
    cases = [case for case in load("merge") if not case.error]

    def ours(case: Case) -> object:
        return canonical(spelled(merged(case)))

    assert differences(cases, ours, lambda case: case.output) == {}


def test_where_upstream_panics_equal_names_merge() -> None:
    for case in load("merge"):
        if case.error:
            assert "comparing uncomparable type" in case.error
            assert isinstance(merged(case), list), case


def merged(case: Case) -> object:
    layers = Layers()
    for layer in ("first", "second"):
        layers.add("K", parse_value(case.request[layer]), Location("test", layer))
    return layers.values["K"]


def spelled(value: object) -> Any:
    """Return the oracle's form of a value: mappings and large integers have yaml.v2's types."""
    if isinstance(value, dict):
        return {"map": [[spelled(key), spelled(inner)] for key, inner in value.items()]}
    if isinstance(value, list):
        return {"list": [spelled(inner) for inner in value]}
    if isinstance(value, int) and value > MAX_INT64:
        return {"uint64": str(value)}
    return to_tagged(value)
