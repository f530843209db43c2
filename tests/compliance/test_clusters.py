from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.model.cluster_reports import ClusterReport
from tests.compliance.cluster_reports import (
    FIXED,
    MERGED,
    NOW,
    OLD,
    clusters,
    failing,
    failing_report,
    healthy_report,
    minutes,
    reported_paths,
)


def state_of(report: ClusterReport, **more: Any) -> tuple[str, str]:
    (cluster,) = clusters(report, **more)
    return cluster.state, cluster.reason


@pytest.mark.parametrize(
    ("report", "state", "reason"),
    [
        (healthy_report(), "compliant", ""),
        (healthy_report(revision=f"dev/{MERGED}"), "compliant", ""),
        (healthy_report(revision=f"dev@sha1:{FIXED}"), "ahead", "it runs a later commit"),
        (healthy_report(revision=f"dev@sha1:{OLD}"), "progressing", "it is on 0000000"),
        (healthy_report(revision=""), "progressing", "it has synced nothing yet"),
        (
            healthy_report(revision="", message="no such branch"),
            "progressing",
            "it has synced nothing yet: no such branch",
        ),
        # The state says nothing about a commit that the cluster has not synced yet.
        (failing_report(revision=f"dev@sha1:{OLD}"), "progressing", "it is on 0000000"),
        (healthy_report(state="Pending"), "progressing", "its state is Pending"),
        (healthy_report(state="Unknown"), "progressing", "its state is Unknown"),
        (healthy_report(state="Reconsidering"), "progressing", "its state is Reconsidering"),
        (healthy_report(state=""), "progressing", "its state is not known"),
        (healthy_report(suspended=True), "suspended", "its reconciliation is suspended"),
        (healthy_report(state="Suspended"), "suspended", "its reconciliation is suspended"),
        (failing_report(), "failed", "HealthCheckFailed: pod web-1 crashes"),
        (
            failing_report(provisioning_state="Creating"),
            "progressing",
            "HealthCheckFailed: pod web-1 crashes",
        ),
        (
            failing_report(provisioning_state="Updating"),
            "progressing",
            "HealthCheckFailed: pod web-1 crashes",
        ),
        (healthy_report(provisioning_state="Updating"), "compliant", ""),
        (
            healthy_report(state="Not Compliant", message="quota exceeded"),
            "failed",
            "quota exceeded",
        ),
        (
            healthy_report(provisioning_state="Failed"),
            "failed",
            "its state is Compliant, provisioning Failed",
        ),
        (
            failing_report(objects=(failing("DependencyNotReady", "infra is not ready"),)),
            "progressing",
            "DependencyNotReady: infra is not ready",
        ),
        (
            failing_report(objects=(failing("Progressing"),)),
            "progressing",
            "Progressing",
        ),
        # While Flux works on the object, its state is Unknown.
        (
            failing_report(objects=(failing("Progressing", "reconciling", status="Unknown"),)),
            "progressing",
            "Progressing: reconciling",
        ),
        # The failure counts more than the objects that wait for it.
        (
            failing_report(
                objects=(failing("DependencyNotReady"), failing("BuildFailed", "no such path"))
            ),
            "failed",
            "BuildFailed: no such path",
        ),
        (
            failing_report(objects=(failing("Progressing"),), provisioning_state="Failed"),
            "failed",
            "Progressing",
        ),
    ],
)
def test_the_first_state_that_fits(report: ClusterReport, state: str, reason: str) -> None:
    assert state_of(report) == (state, reason)


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (failing_report(objects=(failing("BuildFailed", minutes_ago=1),)), "progressing"),
        (failing_report(objects=(failing("BuildFailed", minutes_ago=3),)), "failed"),
        # Work of Flux on another object does not begin a new failure.
        (
            failing_report(
                objects=(
                    failing("BuildFailed", minutes_ago=3),
                    failing("Progressing", status="Unknown", minutes_ago=0),
                )
            ),
            "failed",
        ),
        # The commit came a minute ago, but the condition is older.
        (failing_report(source_updated_at=NOW - minutes(1)), "progressing"),
        (
            healthy_report(provisioning_state="Failed", source_updated_at=NOW - minutes(1)),
            "progressing",
        ),
    ],
)
def test_a_failure_counts_after_the_grace_period(report: ClusterReport, state: str) -> None:
    assert state_of(report)[0] == state


def test_the_grace_period_begins_with_the_failure() -> None:
    assert state_of(failing_report(), started=NOW)[0] == "failed"
    timeless = failing_report(objects=(), source_updated_at=None)
    assert state_of(timeless, started=NOW)[0] == "progressing"
    assert state_of(timeless, started=NOW - minutes(3))[0] == "failed"


def test_a_cluster_that_has_stopped_reporting() -> None:
    silent = healthy_report(reported_at=NOW - minutes(11))
    assert state_of(silent)[0] == "compliant"
    assert state_of(silent, stale_after=minutes(10)) == (
        "stale",
        "it has not reported since 2026-05-01 11:49 UTC",
    )
    assert state_of(healthy_report(reported_at=None), stale_after=minutes(10))[0] == "stale"


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(healthy_report(unreachable="Offline"), id="compliant"),
        pytest.param(failing_report(unreachable="Offline"), id="failing"),
        pytest.param(healthy_report(unreachable="Offline", suspended=True), id="suspended"),
        pytest.param(healthy_report(unreachable="Offline", reported_at=None), id="stale"),
        pytest.param(healthy_report(unreachable="Offline", revision=""), id="not synced"),
    ],
)
def test_a_cluster_whose_connection_is_lost(report: ClusterReport) -> None:
    expected = "unreachable", "its connection is lost: Offline"
    assert state_of(report, stale_after=minutes(10)) == expected


def test_one_configuration_of_several_cluster_types() -> None:
    report = healthy_report(paths=reported_paths("./drone", "./large/web", "./drone/web", "./"))
    read = clusters(report)
    assert [(cluster.name, cluster.cluster_type) for cluster in read] == [
        ("drone-1", "drone"),
        ("drone-1", "large"),
    ]


def test_a_configuration_of_other_paths_only_has_no_cluster() -> None:
    assert clusters(failing_report(path="./monitoring")) == []


def test_a_configuration_without_paths_follows_the_whole_tree() -> None:
    [cluster] = clusters(healthy_report(paths=()))
    assert (cluster.cluster_type, cluster.state) == ("", "compliant")
