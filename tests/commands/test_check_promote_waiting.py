"""The log and the records of a waiting check-promote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kalypso_actions.commands.check_promote.writes import pause_after
from kalypso_actions.commands.shared.watch import MOST_CLUSTERS, ProgressLog
from kalypso_actions.compliance import Cluster, Verdict
from kalypso_actions.compliance.cluster_states import ClusterState

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def observation(*states: ClusterState) -> Verdict:
    clusters = (
        Cluster(f"/clusters/c{number}", "large", state, "why" if state == "failed" else "", "")
        for number, state in enumerate(states)
    )
    return Verdict("waiting", is_open=True, clusters=tuple(clusters))


def logged(*observations: Verdict, seconds: int = 15) -> list[str]:
    lines: list[str] = []
    progress = ProgressLog(lines.append)
    for number, observed in enumerate(observations):
        progress.log(observed, NOON + timedelta(seconds=number * seconds))
    return lines


def test_each_look_names_what_changed() -> None:
    assert logged(
        observation("progressing", "progressing"),
        observation("compliant", "progressing"),
        observation("compliant", "progressing"),
        observation("compliant", "failed"),
        observation("compliant", "failed", "compliant"),
    ) == [
        "compliant 0/2, progressing 2",
        "compliant 1/2, progressing 1",
        "  c0: progressing → compliant",
        "compliant 1/2, failed 1",
        "  c1: progressing → failed: why",
        "compliant 2/3, failed 1",
        "  c2: new → compliant",
    ]


def test_two_clusters_that_change_places_are_named() -> None:
    lines = logged(observation("compliant", "progressing"), observation("progressing", "compliant"))
    assert lines[2:] == ["  c0: compliant → progressing", "  c1: progressing → compliant"]


def test_the_numbers_are_repeated_from_time_to_time() -> None:
    same = [observation("progressing")] * 6
    assert logged(*same, seconds=60) == ["compliant 0/1, progressing 1"] * 2


def test_not_too_many_clusters_are_named() -> None:
    many = MOST_CLUSTERS + 5
    before: list[ClusterState] = ["progressing"] * many
    after: list[ClusterState] = ["compliant"] * many
    lines = logged(observation(*before), observation(*after))
    assert lines[-1] == "  … and 5 more"
    assert len(lines) == 2 + MOST_CLUSTERS + 1


def test_thousands_of_cluster_types_without_a_cluster() -> None:
    missing = tuple(f"store-{number:04}" for number in range(5_000))
    (line,) = logged(Verdict("waiting", missing=missing))
    assert line == f"compliant 0/0, missing {', '.join(missing[:8])} and 4992 more"


def test_a_large_fleet_that_changes_every_minute_for_a_month() -> None:
    waited, records = timedelta(), 0
    while waited < timedelta(days=30):
        waited += pause_after(waited)
        records += 1
    assert records < 500


def test_the_first_hour_has_a_record_each_minute() -> None:
    assert pause_after(timedelta(minutes=59)) == timedelta(minutes=1)
    assert pause_after(timedelta(hours=10)) == timedelta(minutes=10)
