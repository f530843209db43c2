"""Fixtures of the attacks, and the table of `make hostile`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.commands.chain.conftest import acme as acme  # noqa: PLC0414 - the fixtures
from tests.commands.chain.conftest import acme_over_http as acme_over_http  # noqa: PLC0414
from tests.commands.chain.conftest import founded as founded  # noqa: PLC0414
from tests.hostile.fleet_under_attack import FleetUnderAttack
from tests.hostile.measuring import Cost, measured, slowness

PROPERTY: Final = "attack"

Attack = Callable[..., Cost]


@pytest.fixture
def attack(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Attack:
    """Return a function that measures an attack, records its cost, and checks the bounds."""

    def run(
        function: Callable[..., str],
        *arguments: object,
        seconds: float = 5,
        megabytes: float = 128,
    ) -> Cost:
        cost = measured(math.ceil(4 * seconds), function, *arguments)
        row = (request.node.name, f"{cost.seconds:.2f}", f"{cost.megabytes:.0f}", cost.text[:120])
        record_property(PROPERTY, row)
        slower = slowness() if cost.seconds >= seconds else 1
        assert cost.seconds < seconds * slower, (cost, slower)
        assert cost.megabytes < megabytes, cost
        return cost

    return run


@pytest.fixture
def fleet(tmp_path: Path) -> FleetUnderAttack:
    return FleetUnderAttack(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> FleetUnderAttack:
    """A fleet in git repositories, with the tree of an earlier run."""
    kept = FleetUnderAttack(tmp_path, with_git=True)
    kept.keep()
    return kept


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave measured costs to `make hostile`: they say little beside other tests."""
    for item in items:
        if "attack" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print attack, seconds, megabytes and text, if KALYPSO_HOSTILE_TABLE is set."""
    if not os.environ.get("KALYPSO_HOSTILE_TABLE"):
        return
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    rows = [row for report in reports for name, row in report.user_properties if name == PROPERTY]
    terminalreporter.write_line("")
    terminalreporter.write_line(f"{'CPU s':>6} {'MB':>5}  attack | text")
    for name, seconds, megabytes, text in sorted(rows):
        terminalreporter.write_line(f"{seconds:>6} {megabytes:>5}  {name} | {text}")
