from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.model.flux import FluxConfiguration
from tests.compliance.flux_configurations import (
    FIXED,
    MERGED,
    NOW,
    OLD,
    broken_row,
    failing,
    kustomizations,
    minutes,
    row,
    seen,
)


def state_of(flux: FluxConfiguration, **more: Any) -> tuple[str, str]:
    (cluster,) = seen(flux, **more)
    return cluster.state, cluster.reason


@pytest.mark.parametrize(
    ("flux", "state", "reason"),
    [
        (row(), "compliant", ""),
        (row(synced_revision=f"dev/{MERGED}"), "compliant", ""),
        (row(synced_revision=f"dev@sha1:{FIXED}"), "ahead", "it runs a later commit"),
        (row(synced_revision=f"dev@sha1:{OLD}"), "progressing", "it is on 0000000"),
        (row(synced_revision=""), "progressing", "it has synced nothing yet"),
        (
            row(synced_revision="", error_message="no such branch"),
            "progressing",
            "it has synced nothing yet: no such branch",
        ),
        # Whatever its state, it says nothing of a commit that has not come yet.
        (broken_row(synced_revision=f"dev@sha1:{OLD}"), "progressing", "it is on 0000000"),
        (row(compliance_state="Pending"), "progressing", "its state is Pending"),
        (row(compliance_state="Unknown"), "progressing", "its state is Unknown"),
        (row(compliance_state="Reconsidering"), "progressing", "its state is Reconsidering"),
        (row(compliance_state=""), "progressing", "its state is not known"),
        (row(suspended=True), "suspended", "its reconciliation is suspended"),
        (row(compliance_state="Suspended"), "suspended", "its reconciliation is suspended"),
        (broken_row(), "failed", "HealthCheckFailed: pod web-1 crashes"),
        (
            broken_row(provisioning_state="Creating"),
            "progressing",
            "HealthCheckFailed: pod web-1 crashes",
        ),
        (
            broken_row(provisioning_state="Updating"),
            "progressing",
            "HealthCheckFailed: pod web-1 crashes",
        ),
        (row(provisioning_state="Updating"), "compliant", ""),
        (
            row(compliance_state="Not Compliant", error_message="quota exceeded"),
            "failed",
            "quota exceeded",
        ),
        (
            row(provisioning_state="Failed"),
            "failed",
            "its state is Compliant, provisioning Failed",
        ),
        (
            broken_row(objects=(failing("DependencyNotReady", "infra is not ready"),)),
            "progressing",
            "DependencyNotReady: infra is not ready",
        ),
        (
            broken_row(objects=(failing("Progressing"),)),
            "progressing",
            "Progressing",
        ),
        # While Flux works on it, it does not know.
        (
            broken_row(objects=(failing("Progressing", "reconciling", status="Unknown"),)),
            "progressing",
            "Progressing: reconciling",
        ),
        # What waits for something broken does not hide it.
        (
            broken_row(
                objects=(failing("DependencyNotReady"), failing("BuildFailed", "no such path"))
            ),
            "failed",
            "BuildFailed: no such path",
        ),
        (
            broken_row(objects=(failing("Progressing"),), provisioning_state="Failed"),
            "failed",
            "Progressing",
        ),
    ],
)
def test_the_first_state_that_fits(flux: FluxConfiguration, state: str, reason: str) -> None:
    assert state_of(flux) == (state, reason)


@pytest.mark.parametrize(
    ("flux", "state"),
    [
        (broken_row(objects=(failing("BuildFailed", minutes_ago=1),)), "progressing"),
        (broken_row(objects=(failing("BuildFailed", minutes_ago=3),)), "failed"),
        # Each time that Flux begins to work on something else, it is no other failure.
        (
            broken_row(
                objects=(
                    failing("BuildFailed", minutes_ago=3),
                    failing("Progressing", status="Unknown", minutes_ago=0),
                )
            ),
            "failed",
        ),
        # The commit came a minute ago, the condition has stood since the one before.
        (broken_row(source_updated_at=NOW - minutes(1)), "progressing"),
        (row(provisioning_state="Failed", source_updated_at=NOW - minutes(1)), "progressing"),
    ],
)
def test_a_failure_counts_when_it_lasts(flux: FluxConfiguration, state: str) -> None:
    assert state_of(flux)[0] == state


def test_grace_begins_with_the_failure_and_not_with_the_run() -> None:
    assert state_of(broken_row(), started=NOW)[0] == "failed"
    timeless = broken_row(objects=(), source_updated_at=None)
    assert state_of(timeless, started=NOW)[0] == "progressing"
    assert state_of(timeless, started=NOW - minutes(3))[0] == "failed"


def test_a_cluster_that_has_stopped_reporting() -> None:
    silent = row(status_updated_at=NOW - minutes(11))
    assert state_of(silent)[0] == "compliant"
    assert state_of(silent, stale_after=minutes(10)) == (
        "stale",
        "it has not reported since 2026-05-01 11:49 UTC",
    )
    assert state_of(row(status_updated_at=None), stale_after=minutes(10))[0] == "stale"


def test_one_configuration_of_several_cluster_types() -> None:
    flux = row(kustomizations=kustomizations("./drone", "./large/web", "./drone/web", "./"))
    clusters = seen(flux)
    assert [(cluster.name, cluster.cluster_type) for cluster in clusters] == [
        ("drone-1", "drone"),
        ("drone-1", "large"),
    ]


def test_a_configuration_of_other_paths_alone_has_no_cluster() -> None:
    assert seen(broken_row(path="./monitoring")) == []


def test_a_configuration_without_paths_is_one_of_the_whole_tree() -> None:
    [cluster] = seen(row(kustomizations=()))
    assert (cluster.cluster_type, cluster.state) == ("", "compliant")
