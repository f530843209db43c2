"""The clusters that cluster types list: who is waited for, and whose reports are theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kalypso_actions.compliance import (
    DesiredState,
    EnvironmentTree,
    Requirements,
    cluster_states,
    judge_clusters,
)
from kalypso_actions.compliance.cluster_states import clusters_of_branch
from kalypso_actions.errors import Location
from kalypso_actions.model.cluster_reports import ClusterReport, ExpectedCluster
from kalypso_actions.model.kinds import ClusterType
from tests.breaks import breaks, returning, turned
from tests.compliance.cluster_reports import (
    MERGED,
    NOW,
    cluster_id,
    failing_report,
    healthy_report,
    minutes,
)

ONE, OTHER = cluster_id("drone-1"), f"/other{cluster_id('drone-1')}"
TYPES = frozenset({"drone", "large"})


def bare(name: str, **more: Any) -> ClusterReport:
    return healthy_report(cluster=name, **more)


def states(
    listed: Mapping[str, tuple[str, ...]],
    *reports: ClusterReport,
    not_reporting: frozenset[str] = frozenset(),
    assigned: frozenset[str] = TYPES,
    **requirements: Any,
) -> dict[str, str]:
    tree = EnvironmentTree("", TYPES, assigned, not_reporting, listed)
    desired = DesiredState(frozenset({MERGED}), tree)
    clusters, _ = clusters_of_branch(
        reports, desired, Requirements(**requirements), started=NOW - minutes(30), now=NOW
    )
    return {f"{cluster.id} {cluster.cluster_type}": cluster.state for cluster in clusters}


@breaks("a listed cluster may be silent", returning(cluster_states._silent, ()), case="silent")
@breaks(
    "the case of a listed name counts",
    turned(cluster_states._silent, "expected.name.lower()", "expected.name"),
    case="another case",
)
@breaks(
    "a name stands for all clusters of that name, whatever id is listed",
    turned(cluster_states._silent, "(cluster.id, cluster.name)", "(cluster.name,)"),
    case="full id",
)
@breaks(
    "each source has clusters of its own",
    turned(
        cluster_states.of_same_clusters,
        "ids.get(report.cluster.lower(), report.cluster)",
        "report.cluster",
    ),
    case="two sources",
)
@pytest.mark.parametrize(
    ("listed", "reports", "expected"),
    [
        pytest.param(["drone-1"], [], {"drone-1 drone": "progressing"}, id="silent"),
        pytest.param(["Drone-1"], [healthy_report()], {f"{ONE} drone": "compliant"}, id="an id"),
        pytest.param(
            ["DRONE-1"], [healthy_report()], {f"{ONE} drone": "compliant"}, id="another case"
        ),
        pytest.param(
            ["Drone-1"], [bare("drone-1")], {"Drone-1 drone": "compliant"}, id="as it is listed"
        ),
        pytest.param([ONE.upper()], [healthy_report()], {f"{ONE} drone": "compliant"}, id="full"),
        pytest.param(
            [ONE, OTHER],
            [healthy_report()],
            {f"{ONE} drone": "compliant", f"{OTHER} drone": "progressing"},
            id="full ids of one name",
        ),
        pytest.param(
            [OTHER],
            [healthy_report()],
            {f"{ONE} drone": "compliant", f"{OTHER} drone": "progressing"},
            id="another full id",
        ),
        pytest.param(
            ["drone-1"],
            [failing_report(cluster="DRONE-1"), healthy_report()],
            {f"{ONE} drone": "failed"},
            id="two sources, one with an id",
        ),
        pytest.param(
            [],
            [failing_report(cluster="DRONE-1"), bare("drone-1")],
            {"DRONE-1 drone": "failed"},
            id="two sources, not listed",
        ),
        pytest.param(
            ["drone-1"],
            [healthy_report(path="./large")],
            {f"{ONE} large": "compliant", "drone-1 drone": "progressing"},
            id="the path of another cluster type",
        ),
        pytest.param(
            ["drone-1"], [healthy_report(path=".")], {f"{ONE} ": "compliant"}, id="the whole tree"
        ),
        pytest.param(
            ["drone-1", "drone-2"],
            [healthy_report()],
            {f"{ONE} drone": "compliant", "drone-2 drone": "progressing"},
            id="one of two is silent",
        ),
    ],
)
def test_who_is_waited_for(
    listed: list[str], reports: list[ClusterReport], expected: dict[str, str]
) -> None:
    found = states({"drone": tuple(listed)}, *reports)
    assert {name.lower(): state for name, state in found.items()} == {
        name.lower(): state for name, state in expected.items()
    }
    if len(reports) < 2:
        assert set(found) == set(expected)


@pytest.mark.parametrize(
    ("listed", "warned"), [(["drone-1"], True), ([ONE, OTHER], False), ([], False)]
)
def test_a_name_of_several_clusters_is_told(listed: list[str], warned: bool) -> None:
    tree = EnvironmentTree("", TYPES, TYPES, listed={"drone": tuple(listed)})
    verdict = judge_clusters(
        [healthy_report(), healthy_report(cluster=OTHER)],
        DesiredState(frozenset({MERGED}), tree),
        Requirements(),
        started=NOW - minutes(30),
        now=NOW,
    )
    codes = [problem.code for problem in verdict.ignored(tree, Location("acme/fleet"), "")]
    assert ("cluster-name-ambiguous" in codes) == warned


@breaks(
    "a cluster that is ignored by its id is waited for by its name",
    turned(clusters_of_branch, "cluster.id.lower() not in ignored_names", "True"),
    case="ignored",
)
@pytest.mark.parametrize(
    ("pattern", "reports"),
    [
        pytest.param("drone-*", [], id="by the listed name"),
        pytest.param("*/connectedClusters/drone-1", [healthy_report()], id="ignored by its id"),
        pytest.param("DRONE-1", [bare("drone-1")], id="ignored by its name"),
    ],
)
def test_ignored_clusters_are_not_waited_for(pattern: str, reports: list[ClusterReport]) -> None:
    assert states({"drone": ("drone-1",)}, *reports, ignore_clusters=(pattern,)) == {}


@pytest.mark.parametrize(
    ("given", "expected", "unlisted", "exempt"),
    [
        ({}, ["drone"], ("large",), []),
        ({"not_reporting": frozenset({"drone"})}, [], ("large",), ["drone"]),
        ({"assigned": frozenset({"large"})}, [], ("large",), ["drone"]),
        ({"assigned": frozenset()}, [], (), ["drone"]),
    ],
)
def test_which_cluster_types_expect_their_clusters(
    given: dict[str, Any], expected: list[str], unlisted: tuple[str, ...], exempt: list[str]
) -> None:
    fields = {"assigned": TYPES, **given}
    tree = EnvironmentTree("tree", TYPES, listed={"drone": ("a", "b")}, **fields)
    followed = tree.followed("https://github.com/acme/gitops", "dev", ["1", "0"])

    def of(types: list[str]) -> tuple[ExpectedCluster, ...]:
        return tuple(ExpectedCluster(name, each, f"tree/{each}") for each in types for name in "ab")

    assert (followed.expected, followed.exempt) == (of(expected), of(exempt))
    assert (followed.unlisted, followed.commits) == (unlisted, ("1", "0"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        (" , ", ()),
        ("north-1", ("north-1",)),
        ("north-1,south-1", ("north-1", "south-1")),
        ("north-1\nsouth-1 ,\t west-1\n", ("north-1", "south-1", "west-1")),
        ("/subscriptions/s/x, North-1", ("/subscriptions/s/x", "North-1")),
    ],
)
def test_the_annotation(text: str, names: tuple[str, ...]) -> None:
    annotations = {"kalypso.io/clusters": text}
    made = ClusterType("drone", {}, annotations, "", "", "", Location("acme/fleet"))
    assert made.clusters == names
