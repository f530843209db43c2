"""A misspelling differs from a name by one slip; other similar names are intended."""

from __future__ import annotations

import time

import pytest

from kalypso_actions.model.nearest import misspelled, nearest, replaces


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


@pytest.mark.parametrize(
    ("text", "known", "name"),
    [
        ("store-north", ["hub", "store-nordic", "store-south"], "store-nordic"),
        ("store-north", ["hub", "store-south"], "store-south"),
        ("store-noth", ["store-nice", "store-north"], "store-north"),
        ("rgion", ["legion", "region"], "region"),
    ],
)
def test_the_nearest_begins_alike(text: str, known: list[str], name: str) -> None:
    assert nearest(text, known) == name


@pytest.mark.parametrize(
    ("name", "old", "is_near"),
    [
        ("store-nordic", "store-north", True),
        ("stor-north", "store-north", True),
        ("store_north", "store-north", True),
        ("store-south", "store-north", False),
        ("eu-west-2", "eu-west-1", False),
        ("edge-live", "edge-test", False),
        ("store-north-2", "store-north", False),
        ("store-north", "store-north", False),
        ("warehouse", "ware", False),
        ("prod-nordic", "dev-north", False),
    ],
)
def test_a_name_that_replaces_another(name: str, old: str, *, is_near: bool) -> None:
    assert replaces(name, old) == is_near


STORES = [f"store-{region}-{number:04}" for region in ("east", "west") for number in range(5_000)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("store-west-4321", "store-west-4321"),
        ("store-weast-4321", "store-west-4321"),
        ("stor-east-0007", "store-east-0007"),
        ("store-east-00007", "store-east-0007"),
        ("quite-another", ""),
    ],
)
def test_the_nearest_of_thousands(text: str, name: str) -> None:
    assert nearest(text, STORES) == name


def test_thousands_of_mistakes_among_thousands_of_names() -> None:
    """Each took a second, when all names were compared with it."""
    start = time.process_time()
    for name in STORES[::100]:
        assert nearest(f"{name}x", STORES)
    assert time.process_time() - start < 10
