"""A misspelling differs from a name by one slip; other similar names are intended."""

from __future__ import annotations

import pytest

from kalypso_actions.model.nearest import misspelled


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("raido", "radio"),
        ("egde", "edge"),
        ("Radio", "radio"),
        ("smal", "small"),
        ("tests", "test"),
        ("lowpower", "low-power"),
        ("low_power", "low-power"),
        ("north-weast", "north-west"),
    ],
)
def test_slips(text: str, name: str) -> None:
    assert misspelled(text, [name, "quite-another"]) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zone-a", "zone-b"),
        ("west", "rest"),
        ("east", "west"),
        ("dev", "dep"),
        ("eu-west-1", "eu-west-2"),
        ("eu-west-1a", "eu-west-1b"),
        ("small", "smaller"),
        ("eastus2", "eastus"),
        ("large", "large"),
        ("", "radio"),
    ],
)
def test_other_names(text: str, name: str) -> None:
    assert misspelled(text, [name]) == ""
