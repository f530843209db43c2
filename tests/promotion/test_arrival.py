"""In which environments nothing arrives before problems are fixed."""

from __future__ import annotations

import pytest

from kalypso_actions.promotion.environments import Faults, blocked

NONE, NEW, KNOWN = Faults(0, 0), Faults(1, 0), Faults(0, 1)


@pytest.mark.parametrize(
    ("dev", "stage", "of_main", "expected"),
    [
        pytest.param(NONE, NONE, NONE, set(), id="no problems"),
        pytest.param(NONE, KNOWN, NONE, {"stage"}, id="schedule refuses stage"),
        pytest.param(NONE, NEW, NONE, {"dev", "stage"}, id="ci refuses the commit"),
        pytest.param(NONE, NONE, NEW, {"dev", "stage"}, id="new problems on main"),
        pytest.param(NONE, NONE, KNOWN, {"dev", "stage"}, id="known problems on main"),
        pytest.param(NEW, NONE, None, {"dev"}, id="a change of another branch"),
    ],
)
def test_blocked(dev: Faults, stage: Faults, of_main: Faults | None, expected: set[str]) -> None:
    assert blocked({"dev": dev, "stage": stage}, of_main) == expected
