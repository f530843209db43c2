"""What a page draws of the past: states over time, deployments, versions of targets."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from kalypso_actions.commands.report import observed_document
from kalypso_actions.commands.shared.record import record_log
from kalypso_actions.observations import timeline
from kalypso_actions.observations.delivery import Figure, Share, _deployments, figures, promoted
from kalypso_actions.observations.projection import SqliteDatabase, load
from kalypso_actions.observations.timeline import (
    DrawnTime,
    StateSegment,
    _segments,
    _state,
    timelines,
)
from tests.breaks import breaks, turned
from tests.commands.hub.records import MINUTE, Recorder
from tests.observations.test_record import AT
from tests.observations.told import Look, told

BEGIN = int(AT.timestamp())
WINDOW = DrawnTime(BEGIN - 3600, BEGIN + 86_400)
GIVEN = "(moment, moment, moment, moment, first)"


def drawn(
    tables: SqliteDatabase, window: DrawnTime = WINDOW
) -> dict[str, list[tuple[int, str, int]]]:
    """Return the segments of each row with minutes since the first look."""
    return {
        row.cluster: [
            ((each.start - BEGIN) // 60, each.state, each.wanted) for each in row.segments
        ]
        for row in timelines(tables, window, with_clusters=True)
    }


STORIES = {
    "a rollout": (
        [
            Look(0, {"large": "a"}, {"c1": "a success", "c2": "a success"}),
            Look(60, {"large": "b"}, {"c1": "a success", "c2": "b success"}),
            Look(90, {"large": "b"}, {"c1": "b success", "c2": "b success"}),
        ],
        [(-60, "none", -1), (0, "well", 0), (60, "progressing", 1), (90, "well", 1)],
    ),
    "a failure and its recovery": (
        [
            Look(0, {"large": "a"}, {"c1": "a success", "c2": "a success"}),
            Look(60, {"large": "b"}, {"c1": "b failure", "c2": "b success"}),
            Look(90, {"large": "c"}, {"c1": "c success", "c2": "c success"}),
        ],
        [(-60, "none", -1), (0, "well", 0), (60, "failing", 1), (90, "well", 2)],
    ),
    "a failure is worse than an unreachable cluster": (
        [Look(0, {"large": "a"}, {"c1": "a unreachable", "c2": "a failure"})],
        [(-60, "none", -1), (0, "failing", 0)],
    ),
    "all clusters go": (
        [
            Look(0, {"large": "a"}, {"c1": "a success"}),
            Look(60, {"large": "a"}, {}),
        ],
        [(-60, "none", -1), (0, "well", 0), (60, "none", 0)],
    ),
    "a content that nothing wanted": (
        [Look(0, {"large": "a"}, {"c1": "x success"})],
        [(-60, "none", -1), (0, "unknown", 0)],
    ),
    "nothing is wanted": (
        [
            Look(0, {"large": "a"}, {"c1": "a success"}),
            Look(60, {"large": ""}, {"c1": "a success"}),
        ],
        [(-60, "none", -1), (0, "well", 0), (60, "well", -1)],
    ),
    "an application behind": (
        [
            Look(0, {"large": "a", "shop": "1"}, {"c1": "a success, shop 1 success"}),
            Look(60, {"large": "a", "shop": "2"}, {"c1": "a success, shop 1 success"}),
        ],
        [(-60, "none", -1), (0, "well", 0), (60, "progressing", 0)],
    ),
}


@breaks(
    "a content that is no longer wanted is on its way",
    turned(_state, "is_wanted", "True"),
)
@breaks("the worst state of the clusters is drawn", turned(_segments, "reversed(counts)", "counts"))
@pytest.mark.parametrize(("looks", "expected"), STORIES.values(), ids=STORIES)
def test_a_cluster_type_has_the_worst_state_of_its_clusters(
    looks: list[Look], expected: list[tuple[int, str, int]]
) -> None:
    assert drawn(told(*looks))[""] == expected


def test_each_cluster_has_a_row_of_its_own() -> None:
    looks, _ = STORIES["a rollout"]
    rows = drawn(told(*looks))
    assert list(rows) == ["", "c1", "c2"]
    assert rows["c2"] == [(-60, "none", -1), (0, "well", 0), (60, "well", 1)]


def test_a_window_begins_with_what_lasted() -> None:
    looks, _ = STORIES["a rollout"]
    window = DrawnTime(BEGIN + 3600, BEGIN + 7200)
    assert drawn(told(*looks), window)["c1"] == [(60, "progressing", 0), (90, "well", 0)]


def test_a_long_row_becomes_coarser_and_hides_no_failure() -> None:
    looks = [
        Look(
            10 * number,
            {"large": "a"},
            {"c1": "a failure" if number % 7 == 3 else "a success"},
        )
        for number in range(400)
    ]
    tables = told(*looks)
    window = DrawnTime(BEGIN, BEGIN + 400 * 600)
    (row,) = timelines(tables, window, with_clusters=False)
    assert 1 < len(row.segments) <= timeline.MOST_SEGMENTS
    alone = next(each for each in timelines(tables, window, with_clusters=True) if each.cluster)
    assert 1 < len(alone.segments) <= timeline.MOST_OF_CLUSTER
    fine, coarse = (
        {
            minute
            for minute in range(4000)
            if _at(each.segments, BEGIN + 60 * minute).state == "failing"
        }
        for each in (row, alone)
    )
    assert fine <= coarse


def _at(segments: tuple[StateSegment, ...], at: int) -> StateSegment:
    return next(each for each in reversed(segments) if each.start <= at)


def test_deployments_end_well_fail_or_are_open() -> None:
    tables = told(
        Look(0, {"large": "a"}, {"c1": "a success", "c2": "a success"}),
        Look(60, {"large": "b"}, {"c1": "b failure", "c2": "b success"}),
        Look(90, {"large": "c"}, {"c1": "c success", "c2": "b success"}),
    )
    assert [(each.state, each.well, each.clusters) for each in timeline.deployments(tables)] == [
        ("well", 2, 2),
        ("failed", 1, 2),
        ("open", 1, 2),
    ]


def test_the_versions_of_a_target_with_the_ends_of_its_clusters() -> None:
    tables = told(
        Look(
            0, {"large": "a", "shop": "1"}, {"c1": "a success, shop 1 success", "c2": "a success"}
        ),
        Look(
            60, {"large": "a", "shop": "2"}, {"c1": "a success, shop 2 failure", "c2": "a success"}
        ),
    )
    ((key, periods),) = timeline.histories(tables, WINDOW).items()
    assert key == ("dev", "github.com/acme/shop", "dev", "shop")
    assert [(each.version, each.until is None, each.clusters) for each in periods] == [
        ("2", True, {"large": (0, 1, 0)}),
        ("1", False, {"large": (1, 0, 0)}),
    ]
    (run,) = timeline.runs(tables)
    assert (run.cluster_type, run.version, run.state, run.clusters) == ("large", "2", "failing", 1)


def test_looks_and_clusters_are_counted() -> None:
    tables = told(
        Look(0, {"large": "a"}, {"c1": "a success", "c2": "a success"}),
        Look(60, {"large": "a"}, {"c1": "a success"}),
    )
    assert timeline.looks(tables, WINDOW) == (BEGIN, BEGIN + 3600)
    assert timeline.number_of_clusters(tables, WINDOW) == 2
    assert timeline.number_of_clusters(tables, DrawnTime(BEGIN + 7200, BEGIN + 9000)) == 1


def test_the_oldest_cases_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kalypso_actions.observations.delivery.MOST_CASES", 2)
    tables = told(
        *(Look(10 * n, {"large": each}, {"c1": f"{each} success"}) for n, each in enumerate("abcd"))
    )
    window = DrawnTime(BEGIN - 86_400, BEGIN + 3600)
    document = observed_document(tables, window, {})
    dev = next(each for each in document.cases if each.environment == "dev")
    assert (len(dev.deployments), dev.left_out) == (2, {"deployments": 2})
    assert list(document.left_out) == ["dev: older cases of delivery are not drawn: 2 deployments"]


@breaks(
    "a later period counts at an earlier time",
    turned(_deployments, GIVEN, GIVEN.replace("moment, moment, first", "1 << 40, moment, first")),
)
@breaks(
    "the last end of a deployment counts at an earlier time",
    turned(_deployments, GIVEN, GIVEN.replace("moment, moment", "1 << 40, 1 << 40", 1)),
)
@pytest.mark.parametrize(
    ("minutes", "failed", "reached", "recovery"),
    [
        pytest.param(12, 1, 2, (), id="one fails"),
        pytest.param(22, 1, 3, (10 * 60,), id="it is well with a correction"),
        pytest.param(30, 2, 3, (), id="the correction fails on another one"),
        pytest.param(120, 2, 3, (30 * 60,), id="all are well"),
    ],
)
def test_the_recovery_ends_when_the_last_cluster_comes_to_be_well(
    minutes: int, failed: int, reached: int, recovery: tuple[int, ...]
) -> None:
    """A later reconcile of the same content, and what the correction's first try did, are none."""
    tables = told(
        Look(0, {"large": "a"}, {"c1": "a success", "c2": "a success"}),
        Look(10, {"large": "b"}, {"c1": "b failure", "c2": "b success"}),
        Look(20, {"large": "c"}, {"c1": "c success", "c2": "b success"}),
        Look(25, {"large": "c"}, {"c1": "c failure", "c2": "c success"}),
        Look(40, {"large": "c"}, {"c1": "c success", "c2": "c success"}),
        Look(50, {"large": "c"}, {"c1": "c in_progress", "c2": "c success"}),
        Look(60, {"large": "c"}, {"c1": "c success", "c2": "c success"}),
    )
    found = figures(tables, AT + timedelta(minutes=minutes), parts=False)
    dev = next(each for each in found if each.scope.name == "dev")
    assert (dev.failed_deployments.part, dev.failed_deployments.n) == (failed, reached)
    assert dev.recovery.values == recovery


@breaks("a later end counts at an earlier time", turned(promoted, "time > at", "False"))
def test_a_commit_has_failed_until_it_is_deployed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "record")
    recorder.look()
    then = recorder.now
    recorder.promote("dev", "c" * 40, 5, failed_at=then, deployed_at=then + 2 * MINUTE)
    recorder.now += 3 * MINUTE
    recorder.look()
    with closing(sqlite3.connect(":memory:")) as connection:
        tables = SqliteDatabase(connection)
        load(tables, partial(record_log, recorder.branch), recorder.branch.head(), "record")
        (at_first,), (later,) = (
            figures(tables, at, parts=False) for at in (then + MINUTE, recorder.now)
        )
    assert (at_first.change_failures, at_first.lead_time) == (Share(1, 1), Figure())
    assert at_first.recovery == Figure()
    assert (later.recovery.values, later.recovered_by_clusters) == ((120,), False)
