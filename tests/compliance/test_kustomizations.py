"""The applied commits of a configuration's own Kustomizations, and the states of nested objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from kalypso_actions.model.cluster_reports import (
    Condition,
    ObjectReference,
    ReportedObject,
)
from tests.breaks import breaks, turned
from tests.compliance.cluster_reports import (
    FIXED,
    MERGED,
    NOW,
    OLD,
    clusters,
    healthy_report,
    minutes,
    reported_paths,
)

SYNCED = NOW - minutes(20)
ELSEWHERE = "5" * 40


def kustomization(
    name: str = "fleet-drone",
    message: str = f"Applied revision: dev@sha1:{MERGED}",
    *,
    status: str = "True",
    reason: str = "ReconciliationSucceeded",
    since: float = 0,
    by: str = "",
) -> ReportedObject:
    """Return a Kustomization whose condition Ready changed so many minutes after the sync."""
    condition = Condition("Ready", status, reason, message, SYNCED + minutes(since))
    state = {"True": "Compliant", "False": "Non-Compliant"}.get(status, "Pending")
    applier = ObjectReference(by, "flux-system") if by else None
    return ReportedObject("Kustomization", name, state, (condition,), "flux-system", applier)


def applied(
    revision: str, name: str = "fleet-drone", by: str = "", *, since: float = 0
) -> ReportedObject:
    return kustomization(name, f"Applied revision: {revision}", by=by, since=since)


def failing(name: str = "fleet-drone", *, since: float, by: str = "") -> ReportedObject:
    """Return a failure that began so many minutes after the sync."""
    return kustomization(
        name,
        f"{name} is broken",
        status="False",
        reason="HealthCheckFailed",
        since=since,
        by=by,
    )


def judged(
    objects: Sequence[ReportedObject],
    *,
    paths: Sequence[str] = ("./drone",),
    **fields: Any,
) -> tuple[str, str]:
    """Return state and reason of a cluster that synced the commit twenty minutes ago."""
    report = healthy_report(
        **{
            "paths": reported_paths(*paths),
            "objects": tuple(objects),
            "source_updated_at": SYNCED,
            **fields,
        }
    )
    (cluster, *_) = clusters(report)
    return cluster.state, cluster.reason


APP = applied(f"main@sha1:{ELSEWHERE}", "drone-app", by="fleet-drone")
RELEASE = dataclasses.replace(
    kustomization("drone-release", "Helm upgrade succeeded", by="fleet-drone"), kind="HelmRelease"
)
BEHIND = ("progressing", "its Kustomization fleet-drone runs 0000000")


@breaks(
    "a cluster complies before it has applied the commit",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge._applied",
        "kustomization and commit and commit not in desired.commits",
        "kustomization and not commit",
    ),
)
@pytest.mark.parametrize(
    ("objects", "outcome"),
    [
        pytest.param([applied(f"dev@sha1:{MERGED}")], ("compliant", ""), id="Flux 2"),
        pytest.param([applied(f"dev/{MERGED}")], ("compliant", ""), id="Flux before 0.35"),
        pytest.param([applied(f"sha1:{MERGED}")], ("compliant", ""), id="no branch"),
        pytest.param([applied(f"dev@sha1:{MERGED.upper()}")], ("compliant", ""), id="upper case"),
        pytest.param([applied(f"dev@sha1:{OLD}")], BEHIND, id="the commit before"),
        pytest.param([applied(f"dev/{OLD}")], BEHIND, id="the commit before, by an old Flux"),
        pytest.param(
            [applied(f"dev@sha1:{FIXED}")], ("ahead", "it runs a later commit"), id="a later one"
        ),
        pytest.param(
            [applied(f"dev@sha1:{MERGED}"), APP, RELEASE],
            ("compliant", ""),
            id="nested objects name no commit of ours",
        ),
        pytest.param(
            [applied(f"dev@sha1:{OLD}"), applied(f"dev@sha1:{MERGED}", "drone-app", "fleet-drone")],
            BEHIND,
            id="a nested Kustomization does not stand for ours",
        ),
        pytest.param(
            [
                applied(f"dev@sha1:{OLD}"),
                applied(f"dev@sha1:{MERGED}", "other-drone"),
                applied(f"dev@sha1:{MERGED}", "fleet-drone", "fleet-drone"),
            ],
            BEHIND,
            id="neither does one of another configuration",
        ),
        pytest.param([applied(f"dev@sha1:{OLD}", "FLEET-Drone")], None, id="another case"),
    ],
)
def test_each_own_kustomization_names_a_commit_of_the_target(
    objects: list[ReportedObject], outcome: tuple[str, str] | None
) -> None:
    expected = outcome or ("progressing", "its Kustomization FLEET-Drone runs 0000000")
    assert judged(objects) == expected
    assert judged(objects[::-1]) == expected


@pytest.mark.parametrize(
    ("second", "state"),
    [(applied(f"dev@sha1:{OLD}", "fleet-web"), "progressing"), (APP, "compliant")],
)
def test_every_own_kustomization_counts(second: ReportedObject, state: str) -> None:
    given = [applied(f"dev@sha1:{MERGED}"), second]
    assert judged(given, paths=["./drone", "./drone/web"])[0] == state


def test_a_kustomization_of_another_path_may_be_behind() -> None:
    given = [applied(f"dev@sha1:{MERGED}"), applied(f"dev@sha1:{OLD}", "fleet-monitoring")]
    assert judged(given, paths=["./drone", "./monitoring"])[0] == "compliant"


@pytest.mark.parametrize("status", ["Unknown", "False"])
def test_a_compliant_report_with_a_kustomization_that_is_not_ready(status: str) -> None:
    """The lines of a report may be from different moments."""
    given = [kustomization(message="Reconciliation in progress", status=status)]
    reason = "its Kustomization fleet-drone is not ready"
    assert judged(given, source_updated_at=NOW - minutes(60)) == ("progressing", reason)


SHORT = ("progressing", "it names no applied commit, and has complied for less than 60 s")
SILENT = ("progressing", "it has not reported since it synced the commit")


@breaks(
    "a state without an applied commit counts at once",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge._applied",
        "self.now - (synced_at or self.started) < settle",
        "False",
    ),
)
@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="no status"),
        pytest.param([APP, RELEASE], id="nested objects only"),
        pytest.param([kustomization(message="is healthy")], id="another message"),
        pytest.param([applied("dev@sha1:abc1234")], id="a short commit"),
        pytest.param([kustomization(message="")], id="no message"),
    ],
)
def test_without_an_applied_commit_the_state_must_last(objects: list[ReportedObject]) -> None:
    def at(seconds: float, **fields: Any) -> tuple[str, str]:
        synced = NOW - timedelta(seconds=seconds)
        return judged(objects, **{"source_updated_at": synced, "reported_at": synced} | fields)

    assert at(0) == SHORT
    assert at(59) == SHORT
    assert at(60) == ("compliant", "")
    assert at(-5) == SHORT, "a clock of the cluster that is fast"
    assert at(3600, reported_at=NOW - timedelta(seconds=3601)) == SILENT
    assert at(3600, reported_at=None) == SILENT


def test_without_any_time_the_state_must_last_from_the_start() -> None:
    report = healthy_report(source_updated_at=None, reported_at=None)
    states = [
        cluster.state
        for started in (0.5, 1)
        for cluster in clusters(report, started=NOW - minutes(started))
    ]
    assert states == ["progressing", "compliant"]


LEFT_OVER = ("progressing", "it has not begun to apply the commit; the one before fails")


@breaks(
    "a failure of the commit before fails the new one",
    turned(
        "kalypso_actions.compliance.cluster_states._is_of_earlier_revision",
        "since < synced_at",
        "since == synced_at",
    ),
)
@breaks(
    "an old failure of a nested object fails the new commit",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge._unready_conditions",
        "origin and self._runs_earlier_revision(origin)",
        "origin == reported and self._runs_earlier_revision(origin)",
    ),
)
@pytest.mark.parametrize(
    ("objects", "outcome"),
    [
        pytest.param([failing(since=-1)], LEFT_OVER, id="from before the sync"),
        pytest.param([failing(since=0)], "failed", id="from the sync on"),
        pytest.param([failing(since=1)], "failed", id="from after the sync"),
        pytest.param(
            [failing(since=-1), failing("drone-app", since=-1, by="fleet-drone")],
            LEFT_OVER,
            id="a nested object too, while the commit before fails",
        ),
        pytest.param(
            [applied(f"dev@sha1:{OLD}"), failing("drone-app", since=-1, by="fleet-drone")],
            LEFT_OVER,
            id="a nested object while the commit before runs",
        ),
        pytest.param(
            [
                kustomization(status="Unknown", reason="Progressing", message="reconciling"),
                failing("drone-app", since=-1, by="fleet-drone"),
            ],
            ("progressing", "Progressing: reconciling"),
            id="a nested object while Flux applies the commit",
        ),
        pytest.param(
            [
                applied(f"dev@sha1:{OLD}"),
                applied(f"main@sha1:{ELSEWHERE}", "drone-app", by="fleet-drone"),
                failing("drone-web", since=-1, by="drone-app"),
            ],
            LEFT_OVER,
            id="an object of a nested object",
        ),
        pytest.param(
            [applied(f"dev@sha1:{OLD}"), failing("drone-app", since=1, by="fleet-drone")],
            "failed",
            id="a nested object that failed after the sync",
        ),
        pytest.param(
            [applied(f"dev@sha1:{MERGED}"), failing("drone-app", since=-1, by="fleet-drone")],
            "failed",
            id="a nested object of the commit that runs",
        ),
        pytest.param(
            [applied(f"dev@sha1:{FIXED}"), failing("drone-app", since=-1, by="fleet-drone")],
            "failed",
            id="a nested object of a later commit",
        ),
        pytest.param(
            [failing(since=1), failing("drone-app", since=-1, by="fleet-drone")],
            "failed",
            id="a nested object where the commit fails",
        ),
        pytest.param(
            [applied(f"dev@sha1:{OLD}"), failing("drone-app", since=-1, by="elsewhere")],
            "failed",
            id="a nested object of nothing that is known",
        ),
        pytest.param(
            [failing("other-drone", since=-1)], "failed", id="another configuration's Kustomization"
        ),
        pytest.param(
            [dataclasses.replace(failing(since=-1), kind="HelmRelease")],
            "failed",
            id="another kind",
        ),
    ],
)
def test_a_failure_of_the_revision_before(
    objects: list[ReportedObject], outcome: tuple[str, str] | str
) -> None:
    state, reason = judged(objects, state="Non-Compliant")
    assert outcome in (state, (state, reason))


@pytest.mark.parametrize(
    ("applied_at", "failed_at", "now", "state"),
    [
        pytest.param(10, -1, 10.1, "progressing", id="applied six seconds ago"),
        pytest.param(10, -1, 12, "progressing", id="within the grace period"),
        pytest.param(10, -1, 12.1, "failed", id="after the grace period"),
        pytest.param(10, 1, 10.1, "failed", id="failing since the sync"),
        pytest.param(29, -1, 29.1, "failed", id="ready anew with every reconcile"),
    ],
)
def test_a_leftover_failure_has_the_grace_period_from_the_apply(
    applied_at: float, failed_at: float, now: float, state: str
) -> None:
    """Without `wait`, a Kustomization is ready before the objects that it repairs."""
    other = applied(f"dev@sha1:{MERGED}", "fleet-web", since=now)
    app = failing("drone-app", since=failed_at, by="fleet-drone")
    report = healthy_report(
        state="Non-Compliant",
        paths=reported_paths("./drone", "./drone/web"),
        objects=(applied(f"dev@sha1:{MERGED}", since=applied_at), other, app),
        source_updated_at=SYNCED,
    )
    (cluster, *_) = clusters(report, now=SYNCED + minutes(now))
    assert cluster.state == state


def test_a_nested_object_of_a_kustomization_that_runs_the_commit() -> None:
    """Another Kustomization of the configuration still runs the previous commit."""
    given = [
        applied(f"dev@sha1:{MERGED}"),
        applied(f"dev@sha1:{OLD}", "fleet-web"),
        failing("drone-app", since=-1, by="fleet-drone"),
    ]
    state, _ = judged(given, paths=["./drone", "./drone/web"], state="Non-Compliant")
    assert state == "failed"


def test_a_failed_provisioning_is_not_excused() -> None:
    state, _ = judged([failing(since=-1)], state="Non-Compliant", provisioning_state="Failed")
    assert state == "failed"


def test_a_failure_without_a_time_counts() -> None:
    condition = Condition("Ready", "False", "BuildFailed", "no such path", None)
    timeless = ReportedObject("Kustomization", "fleet-drone", "Non-Compliant", (condition,))
    assert judged([timeless], state="Non-Compliant")[0] == "failed"
