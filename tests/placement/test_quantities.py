"""Quantities and times, as Kubernetes and Go compute them."""

from __future__ import annotations

import pytest

from kalypso_placement.instants import YEAR_ONE, add_seconds, format_instant, parse_instant
from kalypso_placement.quantities import parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("700m", 700 * 0.001),
        ("1.5Gi", 1610612736.0),
        ("16Ei", 2.0**63),
        ("1E", 1e18),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-2", -2.0),
        ("1n", 1e-9),
    ],
)
def test_the_double_of_a_quantity(text: str, value: float) -> None:
    quantity = parse_quantity(text)
    assert quantity is not None
    assert quantity.approximate == value


@pytest.mark.parametrize("text", ["", "four", "1.2.3", "1Kib", "5 Gi", "+", "."])
def test_no_quantity(text: str) -> None:
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("text", "canonical"), [("1.5Gi", "1536Mi"), ("0.1Ki", "102400m"), ("1000m", "1000m")]
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    quantity = parse_quantity(text)
    assert quantity is not None
    assert quantity.canonical == canonical


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-01T13:00:00.5+01:00", "2026-03-01T12:00:00.5Z"),
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
    ],
)
def test_times(text: str, shown: str) -> None:
    instant = parse_instant(text)
    assert instant is not None
    assert format_instant(instant) == shown


@pytest.mark.parametrize("text", ["", "2026-02-30T00:00:00Z", "2026-03-01", "2026-03-01T25:00:00Z"])
def test_no_time(text: str) -> None:
    assert parse_instant(text) is None


def test_292_years_overflow() -> None:
    assert add_seconds(0, 9223372037) < 0
    assert format_instant(YEAR_ONE) == "0001-01-01T00:00:00Z"
