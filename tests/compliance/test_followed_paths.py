"""Which paths of a branch belong to an environment's tree."""

from __future__ import annotations

import dataclasses
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.compliance.followed_paths import (
    EnvironmentTree,
    cluster_type_of,
    followed_paths,
)
from tests.compliance.cluster_reports import TREE, healthy_report, reported_paths

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
    assert cluster_type_of(path, EnvironmentTree(folder, OWN)) == cluster_type


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
    of = cluster_type_of(form.format(path), EnvironmentTree(folder, OWN))
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


@given(st.lists(PATHS, max_size=5), FOLDERS, st.sets(st.sampled_from(sorted(OWN))))
def test_each_path_counts_or_is_passed_over(
    paths: list[str], folder: str, not_reporting: set[str]
) -> None:
    tree = EnvironmentTree(folder, OWN, not_reporting=frozenset(not_reporting))
    report = healthy_report(paths=reported_paths(*paths))
    followed = followed_paths(report, tree)
    assert {counted.path for counted in followed.counted} | set(followed.passed_over) == set(paths)
    assert not {counted.path for counted in followed.counted} & set(followed.passed_over)
    assert set(followed.not_ours) <= set(followed.passed_over)
    assert bool(followed.cluster_types) == bool(followed.counted or not paths)
    assert not set(followed.cluster_types) & not_reporting


def test_a_cluster_type_that_does_not_report_is_passed_over() -> None:
    tree = dataclasses.replace(TREE, not_reporting=frozenset({"lamp"}))
    followed = followed_paths(
        healthy_report(paths=reported_paths("./lamp", "./drone", "./x")), tree
    )
    assert followed.cluster_types == ("drone",)
    assert (followed.passed_over, followed.not_ours) == (("./lamp", "./x"), ("./x",))
