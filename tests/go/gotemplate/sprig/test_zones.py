"""Time zones come from the computer's database; without one, the error says so."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfoNotFoundError

import pytest

from kalypso_go.gotemplate import TemplateError
from kalypso_go.gotemplate.sprig import instants
from tests.go.gotemplate.sprig.rendering import render


@pytest.fixture(autouse=True)
def _clear_cache() -> Iterator[None]:
    instants.load_location.cache_clear()
    yield
    instants.load_location.cache_clear()


def _no_database(key: str) -> object:
    raise ZoneInfoNotFoundError(key)


def test_without_a_database_a_named_zone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instants, "ZoneInfo", _no_database)
    with pytest.raises(
        TemplateError, match="Europe/Paris: this computer has no time zone database"
    ):
        render('{{ dateInZone "15:04" 0 "Europe/Paris" }}')


@pytest.mark.parametrize("zone", ["UTC", "", "Local", "../x", "/etc/localtime"])
def test_utc_needs_no_database(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setattr(instants, "ZoneInfo", _no_database)
    assert render(f'{{{{ dateInZone "15:04 MST" 0 "{zone}" }}}}') == "00:00 UTC"


@pytest.mark.parametrize("zone", ["Europe", "posix/../UTC", "America/New York", "é", "a" * 1000])
def test_an_unknown_zone_is_utc(zone: str) -> None:
    assert render(f'{{{{ dateInZone "15:04 MST" 0 "{zone}" }}}}') == "00:00 UTC"


def test_the_zone_of_the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert render('{{ date "15:04 MST" 0 }} {{ toDate "15:04" "10:00" }}') == (
        "00:00 UTC 0000-01-01 10:00:00 +0000 UTC"
    )
