"""Which paths of a branch belong to an environment's tree."""

from __future__ import annotations

import dataclasses
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements
from kalypso_actions.compliance.clusters import clusters_of, paths_outside
from tests.compliance.cluster_reports import MERGED, NOW, TREE, healthy_report, reported_paths

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
