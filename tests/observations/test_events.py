"""The events of what lasts too long: each is told once, at the first look after its threshold."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.observations.drift import drift
from kalypso_actions.observations.events import Thresholds, _kinds, due, events_between
from kalypso_actions.observations.record import (
    Observation,
    ObservationRecord,
    PromotionLine,
    RecordedEnvironment,
)
from tests.breaks import breaks, turned
from tests.observations.test_record import AT
from tests.observations.told import GITOPS, Look, after_look, told


def told_behind(*looks: tuple[int, str, str]) -> list[int]:
    """Return the minutes of the looks at which cluster c1 is told to be behind."""
    environments = (RecordedEnvironment("dev", 0, GITOPS, "dev"),)
    record, minutes, last = ObservationRecord(environments=environments), [], None
    for minute, wanted, runs in looks:
        given = {"c1": f"{runs} success"} if runs else {}
        after = after_look(record, Look(minute, {"large": wanted}, given), last)
        kinds = [each.kind for each in events_between(record, after, Thresholds())]
        minutes += [minute] * kinds.count("behind")
        record, last = after, minute
    return minutes


@breaks(
    "the clock of behind begins with the newest merge",
    turned(due, "behind_since(line.content, periods)", "periods[-1].since"),
)
@pytest.mark.parametrize(
    ("looks", "minutes"),
    [
        pytest.param([(70, "b", "a"), (80, "b", "a"), (200, "b", "a")], [70], id="once"),
        pytest.param([(69, "b", "a"), (71, "b", "a")], [71], id="after an hour, not before"),
        pytest.param([(60, "b", "b"), (80, "b", "b")], [], id="caught up"),
        pytest.param([(60, "b", ""), (80, "b", "")], [], id="gone"),
        pytest.param([(20, "b", "b"), (90, "b", "b"), (95, "b", "a")], [95], id="fell back"),
        pytest.param([(20, "b", "b"), (50, "b", "a"), (75, "b", "a")], [75], id="fell back early"),
        pytest.param([(60, "a", "a"), (80, "a", "a")], [], id="reverted"),
        pytest.param([(60, "c", "a"), (90, "c", "a"), (125, "c", "a")], [90], id="wanted anew"),
        pytest.param([(40, "c", "b"), (90, "c", "b"), (105, "c", "b")], [105], id="half caught up"),
    ],
)
def test_a_cluster_behind_is_told_once(
    looks: list[tuple[int, str, str]], minutes: list[int]
) -> None:
    assert told_behind((0, "a", "a"), (10, "b", "a"), *looks) == minutes


@breaks(
    "a cluster that tries again has not recovered, and fails no second time",
    turned(_kinds, "is_failing(known)", "was == 'failure'"),
)
@pytest.mark.parametrize(
    ("statuses", "events"),
    [
        ("success failure success", ["began-failing", "recovered"]),
        ("success failure in_progress success", ["began-failing", "recovered"]),
        ("failure in_progress in_progress unreachable success", ["recovered"]),
        ("success failure in_progress failure success", ["began-failing", "recovered"]),
        ("success in_progress success", []),
        ("success in_progress failure", ["began-failing"]),
        ("failure success in_progress failure", ["recovered", "began-failing"]),
        ("failure gone success", ["gone", "returned"]),
    ],
)
@pytest.mark.parametrize("contents", ["aaaaa", "abcde"])
def test_a_failure_and_its_end_are_told_once(
    statuses: str, events: list[str], contents: str
) -> None:
    """Looks of a rollout come every few seconds: between a failure and its end lies a new try."""
    record = ObservationRecord(environments=(RecordedEnvironment("dev", 0, GITOPS, "dev"),))
    found: list[str] = []
    for minute, (content, status) in enumerate(zip(contents, statuses.split(), strict=False)):
        runs = {} if status == "gone" else {"c1": f"{content} {status}"}
        after = after_look(
            record, Look(minute, {"large": content}, runs), minute - 1 if minute else None
        )
        found += [each.kind for each in events_between(record, after, Thresholds())]
        record = after
    assert found == events


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 2), st.integers(0, 3)), max_size=12))
def test_the_clock_of_behind_begins_with_the_first_merge_that_a_cluster_lacks(
    story: list[tuple[int, int, int]],
) -> None:
    """Also where merges come more often than a cluster may be behind, and in the tables."""
    merged, runs, now = [0], 0, 0
    looks, expected = [(0, "a", "a")], []
    for minutes, merges, steps in story:
        last, now = now, now + minutes
        merged += [now] * min(merges, 1)
        runs = min(runs + steps, len(merged) - 1)
        looks.append((now, chr(ord("a") + len(merged) - 1), chr(ord("a") + runs)))
        if runs + 1 < len(merged) and last < merged[runs + 1] + 60 <= now:
            expected.append(now)
    assert told_behind(*looks) == expected
    tables = told(*(Look(at, {"large": want}, {"c1": f"{has} success"}) for at, want, has in looks))
    assert [(each.kind, each.since) for each in drift(tables, AT + timedelta(minutes=now))] == [
        ("behind", AT + timedelta(minutes=minute)) for minute in merged[runs + 1 : runs + 2]
    ]


@pytest.mark.parametrize(
    ("fields", "hours"),
    [
        ({"state": "waiting"}, [24]),
        ({"state": "held"}, [24]),
        ({"state": "deploying"}, []),
        ({"state": "deploying", "proposed_at": AT + timedelta(hours=1)}, [26]),
        ({"proposed_at": AT, "merged_at": AT + timedelta(hours=2)}, []),
        ({"state": "deployed", "proposed_at": AT, "deployed_at": AT}, []),
    ],
)
def test_a_commit_that_waits_for_people_is_told_once(
    fields: dict[str, object], hours: list[int]
) -> None:
    blank = PromotionLine("1" * 40, "", AT, "who may merge?", "", "", "", None, None, "")
    line = blank._replace(**fields)  # type: ignore[arg-type]
    told = []
    records = [
        ObservationRecord(
            promotions={"dev": (line,)},
            observed=(Observation("dev", AT + timedelta(hours=hour), True),),
        )
        for hour in (23, 24, 26, 30)
    ]
    for before, after in pairwise(records):
        for event in events_between(before, after, Thresholds()):
            told.append((after.observed[0].at - AT) // timedelta(hours=1))
            assert (event.kind, event.commit, event.reason) == (
                "waiting",
                "1" * 40,
                "who may merge?",
            )
    assert told == hours
