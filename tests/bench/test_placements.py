"""Each Placement of the measured fleet finds cluster types, and none has a fault."""

from __future__ import annotations

import pytest

from bench.placements import decide, make_fleet


@pytest.mark.parametrize("with_cel", [False, True], ids=["selectors", "cel"])
def test_every_placement_finds_what_it_wants(with_cel: bool) -> None:
    schedule = decide(make_fleet(200, 14, with_cel=with_cel))
    assert schedule.problems == ()
    assert schedule.placements is not None
    assert all(len(decision.cluster_types) >= 5 for decision in schedule.placements)
