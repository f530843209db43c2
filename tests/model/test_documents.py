"""The places in a document."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.model.documents import Document, Places

DOCUMENT = Document(
    {"data": {"a": "1", "b": "2"}},
    Location("plane", "x.yaml", 1, 1, "dev", "0" * 40),
    {("data",): (1, 1, 1), ("data", "a"): (2, 3, 6)},
)


def test_places_are_those_of_the_document() -> None:
    places = Places(DOCUMENT.at, ("data",), {"a": "1", "b": "2"})
    assert dict(places) == {"a": DOCUMENT.at("data", "a"), "b": DOCUMENT.at("data", "b")}
    assert places == {"a": Location("plane", "x.yaml", 2), "b": Location("plane", "x.yaml", 1)}
    assert (places["a"].column, places["a"].branch, places["a"].commit) == (6, "dev", "0" * 40)
    assert len(places) == 2
    assert "data" not in places
    with pytest.raises(KeyError):
        places["c"]


def test_a_key_has_a_place_of_its_own() -> None:
    assert Places(DOCUMENT.key_at, ("data",), {"a": ""})["a"].column == 3
