from __future__ import annotations

import dataclasses
import posixpath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements
from kalypso_actions.compliance.cluster_states import clusters_of, paths_outside, synced_commit
from kalypso_actions.model.cluster_reports import ClusterReport
from tests.breaks import breaks, turned
from tests.compliance.cluster_reports import (
    FIXED,
    MERGED,
    NOW,
    OLD,
    TREE,
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


@breaks(
    "a cluster complies with whatever commit it runs",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge.state",
        "commit in self.desired.commits",
        "commit",
    ),
)
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


@breaks(
    "a failure counts at once",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge._health",
        "in_grace or is_working",
        "is_working",
    ),
)
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


@breaks(
    "a silent cluster keeps its last state",
    turned(
        "kalypso_actions.compliance.cluster_states._ReportJudge.state",
        "self.now - at > stale_after",
        "False",
    ),
)
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


SHA = "c4e327286379495f8b6edc2c9c208095b6cc53ab"


@pytest.mark.parametrize(
    "revision",
    [
        f"main/{SHA}",
        f"main@sha1:{SHA}",
        f"sha1:{SHA}",
        f"sha256:{SHA}",
        f"feature/a@b@sha1:{SHA}",
        f"feature/a@b/{SHA}",
        f"main@sha1:{SHA.upper()}",
        f" {SHA}\n",
        SHA,
    ],
)
def test_the_commit_of_a_revision(revision: str) -> None:
    assert synced_commit(revision) == SHA


@given(st.text(alphabet=st.characters(exclude_characters=" ~^:?*[\\\n", codec="ascii"), min_size=1))
def test_branches_of_any_name(branch: str) -> None:
    assert synced_commit(f"{branch}/{SHA}") == SHA
    assert synced_commit(f"{branch}@sha1:{SHA}") == SHA


def test_nothing_synced() -> None:
    assert synced_commit("") == ""


OWN = TREE.cluster_types


@pytest.mark.parametrize(
    ("path", "folder", "cluster_type"),
    [
        pytest.param("./drone", "", "drone", id="a cluster type"),
        pytest.param("drone/", "", "drone", id="without a dot"),
        pytest.param("/drone/web", "", "drone", id="a target"),
        pytest.param("./drone/../large", "", "large", id="dots"),
        pytest.param("../../drone", "", "drone", id="above the root"),
        pytest.param(".//drone", "", "drone", id="two slashes"),
        pytest.param("./", "", "", id="the root"),
        pytest.param(".", "", "", id="a dot"),
        pytest.param("/", "", "", id="a slash"),
        pytest.param("", "", "", id="nothing"),
        pytest.param("./monitoring", "", None, id="no cluster type"),
        pytest.param("./drones", "", None, id="begins like one"),
        pytest.param("./Drone", "", None, id="another case"),
        pytest.param("./.github/workflows", "", None, id="a dot folder"),
        pytest.param("./x/drone", "", None, id="the same name deeper"),
        pytest.param("./fleet/drone", "fleet", "drone", id="in a folder"),
        pytest.param("./fleet", "fleet", "", id="the folder"),
        pytest.param("./", "fleet", "", id="above the folder"),
        pytest.param("./envs", "envs/dev", "", id="between"),
        pytest.param("./envs/dev", "envs/dev", "", id="a deeper folder"),
        pytest.param("./drone", "fleet", None, id="beside the folder"),
        pytest.param("./envs/stage/large", "envs/dev", None, id="another environment"),
        pytest.param("./envs/stage", "envs/dev", None, id="another environment's folder"),
        pytest.param("./envs/development/large", "envs/dev", None, id="a longer name"),
        pytest.param("./envs/dev/x", "envs/dev", None, id="no cluster type in the folder"),
        pytest.param("./envs/dev/../stage/large", "envs/dev", None, id="leaves the folder"),
    ],
)
def test_the_cluster_type_of_a_path(path: str, folder: str, cluster_type: str | None) -> None:
    assert EnvironmentTree(folder, OWN).cluster_type_of(path) == cluster_type


SEGMENTS = st.sampled_from(["drone", "large", "envs", "dev", "stage", "x", ".github"])
PATHS = st.lists(SEGMENTS, max_size=4).map("/".join)
FOLDERS = st.lists(SEGMENTS, max_size=3).map("/".join)
WRITTEN = st.sampled_from(["{}", "./{}", "/{}", "{}/", "./{}/", "x/../{}", "./{}/.", "../{}"])


@given(PATHS, FOLDERS, WRITTEN)
def test_only_paths_at_above_or_inside_the_tree_count(path: str, folder: str, form: str) -> None:
    """Compare with the files of a tree that lie below the path."""
    targets = {f"{name}/web" for name in OWN}
    files = {posixpath.join(folder, target) for target in targets}
    below = {file for file in files if not path or f"{file}/".startswith(f"{path}/")}
    types = {file.removeprefix(folder).strip("/").partition("/")[0] for file in below}
    inside = {
        cluster_type
        for cluster_type in OWN
        if f"{path}/".startswith(posixpath.join(folder, cluster_type, "web", ""))
    }
    named = types | inside
    of = EnvironmentTree(folder, OWN).cluster_type_of(form.format(path))
    if named == OWN:
        assert of == ""
    elif named:
        assert {of} == named
    else:
        deeper = [
            cluster_type
            for cluster_type in OWN
            if path.startswith(posixpath.join(folder, cluster_type, ""))
        ]
        assert of == (deeper[0] if deeper else None)


def followed(tree: EnvironmentTree, *paths: str) -> tuple[list[str], str]:
    """Return the cluster types that the paths name, and the note on those that do not count."""
    report = healthy_report(paths=reported_paths(*paths))
    desired = DesiredState(frozenset({MERGED}), tree)
    clusters = list(clusters_of(report, desired, Requirements(), started=NOW, now=NOW))
    return [item.cluster_type for item in clusters], clusters[0].reason if clusters else ""


@given(st.lists(PATHS, max_size=5), FOLDERS, st.sets(st.sampled_from(sorted(OWN))))
def test_each_path_counts_or_is_passed_over(
    paths: list[str], folder: str, not_reporting: set[str]
) -> None:
    tree = EnvironmentTree(folder, OWN, not_reporting=frozenset(not_reporting))
    of_path = {path: tree.cluster_type_of(path) for path in paths}
    counted = {of for of in of_path.values() if of is not None and of not in not_reporting}
    cluster_types, note = followed(tree, *paths)
    assert cluster_types == (sorted(counted - {""}) or [""] * bool(counted or not paths))
    passed_over = {path for path, of in of_path.items() if of is None or of in not_reporting}
    assert bool(note) == bool(passed_over and counted)
    outside = paths_outside(healthy_report(paths=reported_paths(*paths)), tree)
    assert set(outside) == {path for path, of in of_path.items() if of is None}


def test_a_cluster_type_that_does_not_report_is_passed_over() -> None:
    tree = dataclasses.replace(TREE, not_reporting=frozenset({"lamp"}))
    paths = "./lamp", "./drone", "./x"
    note = "judged by the whole configuration with ./lamp, ./x: statuses are missing"
    assert followed(tree, *paths) == (["drone"], note)
    assert paths_outside(healthy_report(paths=reported_paths(*paths)), tree) == ("./x",)
