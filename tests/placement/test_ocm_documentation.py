"""The examples of OCM's documentation of Placement, with the results that it describes.

https://open-cluster-management.io/docs/concepts/content-placement/placement/
"""

from __future__ import annotations

import pytest

from tests.placement.hubs import (
    Body,
    cluster,
    decide,
    decided,
    placement,
    prioritizing,
    read,
    score,
    selecting,
)

AWS = {"key": "platform.open-cluster-management.io", "operator": "In", "values": ["aws"]}
ON_AWS = {"platform.open-cluster-management.io": "aws"}
UNREACHABLE = "cluster.open-cluster-management.io/unreachable"
SIZES = [
    cluster("c1", cpu="4", memory="64Gi"),
    cluster("c2", cpu="16", memory="16Gi"),
    cluster("c3", cpu="12", memory="48Gi"),
]


def tainted(key: str, value: str = "") -> Body:
    taint = {"key": key, "effect": "NoSelect", "timeAdded": "2026-03-01T11:57:00Z"}
    return cluster("c1", taints=[{**taint, "value": value} if value else taint])


@pytest.mark.parametrize(
    ("spec", "hub", "chosen"),
    [
        pytest.param(
            {
                "numberOfClusters": 3,
                "predicates": [
                    {
                        "requiredClusterSelector": {
                            "labelSelector": {"matchLabels": {"purpose": "test"}},
                            "claimSelector": {"matchExpressions": [AWS]},
                        }
                    }
                ],
            },
            [
                *(cluster(f"c{n}", {"purpose": "test"}, claims=ON_AWS) for n in range(1, 5)),
                cluster("a1", {"purpose": "test"}),
                cluster("a2", claims=ON_AWS),
            ],
            ["c1", "c2", "c3"],
            id="three with a label and a claim",
        ),
        pytest.param(
            {
                "predicates": [
                    selecting(
                        cel=r"managedCluster.metadata.labels['version'].matches('^1\\.(30|31)\\.\\d+$')"
                        " && semver(managedCluster.metadata.labels['version'])"
                        ".isGreaterThan(semver('1.30.0'))"
                        " && managedCluster.scores('usage').filter(s, s.name == 'memory')"
                        ".all(e, e.value > 0)"
                    )
                ]
            },
            [
                *(cluster(f"c{n}", {"version": f"1.3{n}.0"}) for n in range(3)),
                *(score("usage", f"c{n}", memory=5) for n in range(3)),
            ],
            ["c1"],
            id="expressions of versions and scores",
        ),
        pytest.param({}, [tainted("gpu", "true")], [], id="a taint"),
        pytest.param(
            {"tolerations": [{"key": "gpu", "value": "true", "operator": "Equal"}]},
            [tainted("gpu", "true")],
            ["c1"],
            id="a tolerated taint",
        ),
        pytest.param(
            {"tolerations": [{"key": UNREACHABLE, "operator": "Exists", "tolerationSeconds": 300}]},
            [tainted(UNREACHABLE)],
            ["c1"],
            id="a taint tolerated for five minutes",
        ),
        pytest.param(
            {
                "numberOfClusters": 1,
                "prioritizerPolicy": prioritizing(
                    ("ResourceAllocatableMemory", 1), mode="Additive"
                ),
            },
            SIZES,
            ["c1"],
            id="the largest memory",
        ),
        pytest.param(
            {
                "numberOfClusters": 1,
                "prioritizerPolicy": prioritizing(
                    ("ResourceAllocatableCPU", 2), ("ResourceAllocatableMemory", 2), mode="Additive"
                ),
            },
            [*SIZES, decided("app", "c2")],
            ["c3"],
            id="sensitive to resources",
        ),
        pytest.param(
            {
                "numberOfClusters": 2,
                "prioritizerPolicy": prioritizing(("Steady", 3), ("default/cpuratio", 1)),
            },
            [
                *SIZES,
                decided("app", "c1"),
                *(score("default", f"c{n}", cpuratio=30 * n) for n in (1, 2, 3)),
            ],
            ["c1", "c3"],
            id="pinned, and the best score of an add-on",
        ),
    ],
)
def test_the_clusters_of_an_example(spec: Body, hub: list[Body], chosen: list[str]) -> None:
    assert decide(placement(**spec), *hub)["decisions"] == chosen


def test_a_toleration_ends() -> None:
    toleration = {"key": UNREACHABLE, "operator": "Exists", "tolerationSeconds": 300}
    spec = placement(tolerations=[toleration])
    for now, chosen in (("2026-03-01T12:01:59Z", ["c1"]), ("2026-03-01T12:02:00Z", [])):
        assert decide(spec, tainted(UNREACHABLE), now=now)["decisions"] == chosen


def test_the_groups_of_310_clusters() -> None:
    canaries = ("prod-canary-west", "prod-canary-east")
    labels = [{canaries[n // 10]: "true"} if n < 20 else {} for n in range(310)]
    groups = [
        {
            "groupName": name,
            "groupClusterSelector": {
                "labelSelector": {"matchExpressions": [{"key": name, "operator": "Exists"}]}
            },
        }
        for name in canaries
    ]
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": 150, "decisionGroups": groups}}
    spec = placement(clusterSets=["global"], decisionStrategy=strategy)
    answer = decide(spec, *(cluster(f"c{n:03}", labels[n]) for n in range(310)))
    assert [
        (group["decisionGroupName"], group["clusterCount"], len(group["decisions"]))
        for group in answer["decisionGroups"]
    ] == [(canaries[0], 10, 1), (canaries[1], 10, 1), ("", 150, 2), ("", 140, 2)]
    assert answer["status"]["numberOfSelectedClusters"] == 310


def test_the_answer_of_the_debug_endpoint() -> None:
    answer = decide(placement(), cluster("c1"), cluster("c2"), decided("app", "c1", "c2"))
    assert [item["name"] for item in answer["filteredPipelineResults"]] == [
        "Predicate",
        "Predicate,TaintToleration",
    ]
    both = {"c1": 100, "c2": 100}
    assert answer["prioritizeResults"] == [
        {"name": "Balance", "weight": 1, "scores": both},
        {"name": "Steady", "weight": 1, "scores": both},
    ]


def test_a_version_that_is_no_longer_served_is_refused() -> None:
    old = {**placement(), "apiVersion": "cluster.open-cluster-management.io/v1alpha1"}
    objects = read(old)
    assert objects.placements == []
    (problem,) = objects.problems
    assert (problem.code, problem.advice) == ("placement-refused", "write v1beta1")
