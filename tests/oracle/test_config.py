"""Configuration values: parsing and merging."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.platform_config import Layers, parse_value
from tests.oracle.cases import Case, load
from tests.oracle.tagged import canonical, to_tagged

MERGES = load("merge")
MAX_INT64 = 2**63 - 1


@pytest.mark.parametrize("case", load("config"), ids=str)
def test_what_a_text_spells(case: Case) -> None:
    assert canonical(spelled(parse_value(case.request["text"]))) == case.output


@pytest.mark.parametrize("case", [case for case in MERGES if not case.error], ids=str)
def test_one_value_over_another(case: Case) -> None:
    assert canonical(spelled(merged(case))) == case.output


@pytest.mark.parametrize("case", [case for case in MERGES if case.error], ids=str)
def test_where_upstream_panics_equal_names_merge(case: Case) -> None:
    assert "comparing uncomparable type" in str(case.error)
    assert isinstance(merged(case), list)


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
