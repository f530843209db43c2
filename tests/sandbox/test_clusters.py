"""What people see of clusters, and do to them; each source of reports tells of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import ArgoApplication, Cluster, Configuration, StatusNotifications
from kalypso_sandbox.azure.clusters import UnknownNameError
from tests.sandbox.served_sandbox import FLEET, NOON, Clock, serving

GOOD, BAD = {"edge/a.yaml": "cache: 1\n"}, {"edge/a.yaml": "cache: 512\n"}


def follows(**more: object) -> Configuration:
    return Configuration.model_validate(
        {"repository": FLEET, "paths": ["./edge"], "delay": 5, "settle": 20, **more}
    )


def put(sandbox: Sandbox, source: str) -> None:
    """Add the cluster berlin, which reports to a source."""
    if source == "Azure Resource Graph":
        sandbox.azure.put(Cluster(name="berlin", kind="arc", configurations=[follows()]))
        return
    reports: dict[str, object] = {"application": ArgoApplication(server="hub")}
    if source == "commit statuses":
        app, _ = sandbox.create_app("acme", {"statuses": "write"}, slug="clusters")
        reports = {"notifications": StatusNotifications(app=app, cluster_type="edge")}
    sandbox.azure.put(Cluster(name="berlin", kind="other", configurations=[follows(**reports)]))


def reported(sandbox: Sandbox, source: str) -> str:
    """Return the last report of berlin, in the words of its source."""
    if source == "Azure Resource Graph":
        rows = sandbox.azure.tables()["kubernetesconfigurationresources"]
        states = [row["properties"].get("complianceState") for row in rows]
        return next((state for state in states if state), "")
    if source == "Argo CD":
        listed = sandbox.argocd.applications("hub")
        return next((str(each["status"]["health"]["status"]) for each in listed), "")
    sandbox.post_cluster_statuses()
    return next((each.state for each in reversed(sandbox.repository(FLEET).statuses)), "")


WELL = {"Azure Resource Graph": "Compliant", "commit statuses": "success", "Argo CD": "Healthy"}
ILL = {"Azure Resource Graph": "Non-Compliant", "commit statuses": "failure", "Argo CD": "Degraded"}


@pytest.mark.parametrize("source", WELL)
def test_a_cluster_fails_at_a_text_until_it_is_corrected(tmp_path: Path, source: str) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        put(sandbox, source)
        states = sandbox.clusters.states
        sandbox.commit(FLEET, GOOD)
        clock.advance(seconds=60)
        assert reported(sandbox, source) == WELL[source]
        sandbox.clusters.fail("berlin", "cache: 512")
        (state,) = states()
        assert (state.phase, state.fault, state.fails_at) == ("ready", "fails", "cache: 512")
        bad = sandbox.commit(FLEET, BAD)
        clock.advance(seconds=10)
        assert states()[0].phase == "applying"
        clock.advance(seconds=60)
        assert reported(sandbox, source) == ILL[source]
        (state,) = states()
        assert (state.phase, state.applied, state.source) == ("failing", bad, source)
        assert state.message.endswith("the configuration has cache: 512")
        assert state.since == NOON + timedelta(seconds=85)
        sandbox.commit(FLEET, GOOD)
        clock.advance(seconds=60)
        assert reported(sandbox, source) == WELL[source]
        assert states()[0].phase == "ready"


def test_a_fault_begins_with_the_commit_that_runs(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        put(sandbox, "Azure Resource Graph")
        sandbox.commit(FLEET, BAD)
        clock.advance(seconds=60)
        sandbox.clusters.fail("berlin", "", message="out of disk")
        assert (sandbox.clusters.states()[0].phase) == "failing"
        assert (sandbox.clusters.states()[0].message) == "out of disk"
        assert sandbox.clusters.states()[0].since == NOON + timedelta(seconds=60)
        sandbox.clusters.mend("berlin")
        clock.advance(seconds=60)
        assert (sandbox.clusters.states()[0].phase) == "ready"


@pytest.mark.parametrize("source", WELL)
@pytest.mark.parametrize(
    ("stop", "fault"),
    [
        (lambda sandbox: sandbox.clusters.stall("berlin"), "stalls"),
        (lambda sandbox: sandbox.clusters.take_offline("berlin"), "offline"),
    ],
)
def test_a_stopped_cluster_keeps_its_commit_until_it_is_mended(
    tmp_path: Path, source: str, stop: Callable[[Sandbox], None], fault: str
) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        put(sandbox, source)
        first = sandbox.commit(FLEET, GOOD)
        clock.advance(seconds=60)
        stop(sandbox)
        clock.advance(seconds=10)
        second = sandbox.commit(FLEET, BAD)
        clock.advance(seconds=600)
        (state,) = sandbox.clusters.states()
        assert (state.applied, state.fault) == (first, fault)
        assert state.fault_since == NOON + timedelta(seconds=60)
        sandbox.clusters.mend("berlin")
        clock.advance(seconds=60)
        (state,) = sandbox.clusters.states()
        assert (state.applied, state.fault, state.phase) == (second, "", "ready")


def test_clusters_are_added_after_a_model_and_deleted(tmp_path: Path) -> None:
    with serving(tmp_path) as sandbox:
        put(sandbox, "Argo CD")
        clusters = sandbox.clusters
        clusters.fail("berlin", "x")
        clusters.add("aachen", like="berlin")
        shown = {each.name: each.fault for each in clusters.states()}
        assert shown == {"aachen": "", "berlin": "fails"}
        clusters.delete("berlin")
        assert [each.name for each in clusters.states()] == ["aachen"]
        for name, like, message in (
            ("aachen", "aachen", "already a cluster 'aachen'"),
            ("", "aachen", "name it"),
        ):
            with pytest.raises(ValueError, match=message):
                clusters.add(name, like)
        with pytest.raises(UnknownNameError):
            clusters.add("bonn", like="berlin")
        with pytest.raises(UnknownNameError):
            clusters.stall("berlin")
