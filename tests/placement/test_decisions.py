"""The decisions of a Placement: each case tests one rule of OCM's scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_placement.reconciliation import spread_evenly
from tests.breaks import breaks, turned
from tests.placement.hubs import (
    all_bound,
    cluster,
    decide,
    decided,
    placement,
    prioritizing,
    read,
    score,
    selecting,
)

TAINT = {"key": "edge", "value": "yes", "effect": "NoSelect", "timeAdded": "2026-03-01T11:30:00Z"}
THREE = [cluster("c1"), cluster("c2"), cluster("c3")]


def scores(answer: dict[str, Any], name: str) -> dict[str, int]:
    (scores,) = [r["scores"] for r in answer["prioritizeResults"] if r["name"] == name]
    assert isinstance(scores, dict)
    return scores


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [
        pytest.param({}, ["c1", "c2", "c3"], id="all"),
        pytest.param({"numberOfClusters": 2}, ["c1", "c2"], id="the-first-by-name"),
        pytest.param({"numberOfClusters": 9}, ["c1", "c2", "c3"], id="more-than-there-are"),
        pytest.param({"numberOfClusters": 0}, [], id="none"),
        pytest.param({"clusterSets": ["nope"]}, [], id="a-set-that-is-not-bound"),
    ],
)
def test_the_cut(spec: dict[str, Any], chosen: list[str]) -> None:
    assert decide(placement(**spec), *THREE)["decisions"] == chosen


FLEET = [
    cluster("a", {"env": "prod", "region": "eu"}, claims={"cloud": "Azure"}),
    cluster("b", {"env": "prod"}, claims={"cloud": "Amazon"}),
    cluster("c", {"env": "dev"}),
]


@pytest.mark.parametrize(
    ("predicates", "kept"),
    [
        pytest.param([selecting(labels={"env": "prod"})], ["a", "b"], id="labels"),
        pytest.param(
            [selecting(claims=[{"key": "cloud", "operator": "NotIn", "values": ["Azure"]}])],
            ["b", "c"],
            id="an-absent-claim-is-not-in",
        ),
        pytest.param(
            [selecting(labels={"env": "prod"}, cel='managedCluster.metadata.name == "b"')],
            ["b"],
            id="all-selectors-of-one-predicate",
        ),
        pytest.param(
            [selecting(labels={"env": "dev"}), selecting(labels={"region": "eu"})],
            ["a", "c"],
            id="any-predicate",
        ),
        pytest.param(
            [selecting(cel='managedCluster.metadata.labels.region != "eu"')],
            [],
            id="an-error-of-cel-is-no-match",
        ),
    ],
)
def test_predicates(predicates: list[Any], kept: list[str]) -> None:
    answer = decide(placement(predicates=predicates), *FLEET)
    assert answer["filteredPipelineResults"][0] == {"name": "Predicate", "filteredClusters": kept}


@breaks(
    "seconds do not overflow",
    turned(
        "kalypso_placement.instants.add_seconds",
        "duration - _INT64 if duration >= _INT64 // 2 else duration",
        "duration",
    ),
)
@breaks(
    "a toleration holds at its very end",
    turned("kalypso_placement.filters._tolerated_until", "now < end", "now <= end"),
)
@pytest.mark.parametrize(
    ("tolerations", "tolerated"),
    [
        pytest.param([], False, id="none"),
        pytest.param([{"key": "edge", "value": "yes"}], True, id="equal"),
        pytest.param([{"key": "edge", "value": "no"}], False, id="another-value"),
        pytest.param([{"operator": "Exists"}], True, id="everything"),
        pytest.param([{"key": "edge", "operator": "In"}], False, id="unknown-operator"),
        pytest.param([{"operator": "Exists", "tolerationSeconds": 1801}], True, id="not-yet-over"),
        pytest.param([{"operator": "Exists", "tolerationSeconds": 1800}], False, id="over"),
        pytest.param(
            [{"operator": "Exists", "tolerationSeconds": 9223372037}], False, id="overflow"
        ),
    ],
)
def test_tolerations(tolerations: list[Any], tolerated: bool) -> None:
    answer = decide(placement(tolerations=tolerations), cluster("c1", taints=[TAINT]))
    assert answer["decisions"] == (["c1"] if tolerated else [])


def test_an_incumbent_stays_on_a_cluster_for_old_ones_only() -> None:
    taint = {**TAINT, "effect": "NoSelectIfNew"}
    fleet = [cluster(name, taints=[taint]) for name in ("c1", "c2")]
    assert decide(placement(), *fleet, decided("app", "c2"))["decisions"] == ["c2"]


def test_the_second_look_is_that_of_the_decisions_so_far() -> None:
    wanted = placement(tolerations=[{"operator": "Exists", "tolerationSeconds": 3600}])
    fleet = [cluster("c1", taints=[TAINT])]
    assert decide(wanted, *fleet)["requeueTime"] is None
    assert decide(wanted, *fleet, decided("app", "c1"))["requeueTime"] == "2026-03-01T12:30:00Z"


@breaks(
    "Balance is rounded once, not cut as OCM does",
    turned(
        "kalypso_placement.prioritizers._balance",
        "2 * int(HIGHEST * (0.5 - n / largest))",
        "int(2 * HIGHEST * (0.5 - n / largest) + 1e-9)",
    ),
)
def test_balance_counts_other_placements_and_is_computed_in_doubles() -> None:
    others = [
        decided(f"p{i}", *names) for i, names in enumerate([["c1"] * 5, ["c2"] * 2, ["c3"] * 3])
    ]
    answer = decide(placement(), *THREE, cluster("c4"), *others)
    assert scores(answer, "Balance") == {"c1": -100, "c2": 18, "c3": -18, "c4": 100}


def test_resources_are_compared_in_doubles() -> None:
    wanted = placement(prioritizerPolicy=prioritizing(("ResourceAllocatableCPU", 1)))
    fleet = [cluster("c1", cpu="1"), cluster("c2", cpu="3"), cluster("c3", cpu="6"), cluster("c4")]
    assert scores(decide(wanted, *fleet), "ResourceAllocatableCPU") == {
        "c1": -100,
        "c2": -19,
        "c3": 100,
    }


@breaks(
    "an expired score counts",
    turned(
        "kalypso_placement.prioritizers._add_on", "question.now > published.valid_until", "False"
    ),
)
def test_scores_of_add_ons_expire_with_a_warning() -> None:
    wanted = placement(prioritizerPolicy=prioritizing(("cost/eur", -2)), numberOfClusters=1)
    published = [
        score("cost", "c1", eur=50),
        score("cost", "c2", eur=-50),
        score("cost", "c3", until="2026-03-01T11:59:59Z", eur=-100),
    ]
    answer = decide(wanted, *THREE, *published)
    assert answer["decisions"] == ["c2"]
    assert answer["scheduleStatus"]["code"] == "Warning"
    assert answer["syncError"] == "AddOnPlacementScores c3/cost expired"


@pytest.mark.parametrize(
    ("lead", "chosen"),
    [pytest.param(3, "c2", id="incumbent"), pytest.param(0, "c1", id="newcomer")],
)
def test_an_incumbent_yields_to_a_lead_of_100(lead: int, chosen: str) -> None:
    others = [decided("other", *["c1"] * lead, *["c2"] * 4)]
    wanted = placement(numberOfClusters=1)
    answer = decide(wanted, *THREE[:2], decided("app", "c2"), *others)
    assert answer["decisions"] == [chosen]


@pytest.mark.parametrize(
    ("spec", "plugin"),
    [
        pytest.param({"predicates": [selecting(labels={"a b": "c"})]}, "Predicate", id="selector"),
        pytest.param({"predicates": [selecting(cel="1 < 2.5")]}, "Predicate", id="cel"),
        pytest.param(
            {"tolerations": [{"operator": "Exists", "value": "x"}]}, "TaintToleration", id="taint"
        ),
        pytest.param({"prioritizerPolicy": prioritizing(("Spread", 1))}, "", id="prioritizer"),
        pytest.param({"prioritizerPolicy": {"mode": "Best"}}, "", id="mode"),
    ],
)
def test_a_misconfigured_placement_selects_nothing(spec: dict[str, Any], plugin: str) -> None:
    answer = decide(placement(**spec), *THREE, decided("app", "c1"))
    assert answer["scheduleStatus"]["code"] == "Misconfigured"
    assert answer["scheduleStatus"]["plugin"] == plugin
    assert answer["decisions"] == []
    assert [d["clusters"] for d in answer["placementDecisions"]] == [[]]


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        pytest.param(4, [4, 4, 2], id="number"),
        pytest.param("20%", [2, 2, 2, 2, 2], id="percentage"),
        pytest.param(0, [10], id="zero-is-all"),
    ],
)
def test_the_size_of_groups(size: object, sizes: list[int]) -> None:
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": size}}
    fleet = [cluster(f"c{number}") for number in range(10)]
    answer = decide(placement(decisionStrategy=strategy), *fleet)
    assert [group["clusterCount"] for group in answer["decisionGroups"]] == sizes


@breaks(
    "a group's size is exact, not computed in doubles",
    turned(
        "kalypso_placement.reconciliation.group_size",
        "math.ceil(float(size[:-1]) / 100 * total)",
        "-(-int(float(size[:-1]) * total) // 100)",
    ),
)
def test_seven_percent_of_a_hundred_are_eight() -> None:
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": "7%"}}
    fleet = [cluster(f"c{number}") for number in range(100)]
    answer = decide(placement(decisionStrategy=strategy), *fleet)
    assert answer["decisionGroups"][0]["clusterCount"] == 8


def test_canaries_come_first_and_large_groups_are_split() -> None:
    """OCM's documented example: 310 clusters, two groups of ten, and others of at most 150."""
    groups = [
        {
            "groupName": f"canary{n}",
            "groupClusterSelector": {"labelSelector": {"matchLabels": {"g": str(n)}}},
        }
        for n in (1, 2)
    ]
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": 150, "decisionGroups": groups}}
    fleet = [cluster(f"c{n:03}", {"g": str(n // 10 + 1)}) for n in range(310)]
    answer = decide(placement(decisionStrategy=strategy), *fleet)
    assert [group["clusterCount"] for group in answer["decisionGroups"]] == [10, 10, 150, 140]
    assert [len(d["clusters"]) for d in answer["placementDecisions"]] == [10, 10, 100, 50, 100, 40]
    assert answer["placementDecisions"][2]["name"] == "app-decision-3"


REGIONS = [
    cluster(f"{region}{n}", {"region": region}) for region in ("eu", "us", "ap") for n in (1, 2, 3)
]
TERM = {"topologyKey": "region", "topologyKeyType": "Label"}


@pytest.mark.parametrize(
    ("number", "chosen"),
    [
        pytest.param(3, ["ap1", "eu1", "us1"], id="one-of-each"),
        pytest.param(4, ["ap1", "eu1", "us1", "ap2"], id="then-the-first-again"),
    ],
)
def test_spread_takes_regions_in_turn(number: int, chosen: list[str]) -> None:
    wanted = placement(numberOfClusters=number, spreadPolicy={"spreadConstraints": [TERM]})
    assert decide(wanted, *REGIONS, choose=spread_evenly)["decisions"] == chosen
    assert decide(wanted, *REGIONS)["decisions"] == ["ap1", "ap2", "ap3", "eu1"][:number]


def test_a_required_spread_chooses_less_rather_than_unevenly() -> None:
    term = {**TERM, "whenUnsatisfiable": "DoNotSchedule"}
    wanted = placement(numberOfClusters=6, spreadPolicy={"spreadConstraints": [term]})
    fleet = [*REGIONS[:6], cluster("ap1", {"region": "ap"}), cluster("none")]
    answer = decide(wanted, *fleet, choose=spread_evenly)
    assert answer["decisions"] == ["ap1", "eu1", "us1", "eu2", "us2"]
    assert answer["numberOfUnscheduled"] == 1


@pytest.mark.parametrize(
    ("spec", "field", "code"),
    [
        pytest.param(
            {"numberOfCluster": 1}, "spec.numberOfCluster", "placement-field-unknown", id="unknown"
        ),
        pytest.param({"sortBy": "Name"}, "spec.sortBy", "placement-refused", id="enum"),
        pytest.param(
            {"numberOfClusters": "3"}, "spec.numberOfClusters", "placement-refused", id="type"
        ),
        pytest.param(
            {"numberOfClusters": 2**31}, "spec.numberOfClusters", "placement-unreadable", id="range"
        ),
        pytest.param(
            {"tolerations": [{"key": "my key"}]},
            "spec.tolerations[0].key",
            "placement-refused",
            id="pattern",
        ),
    ],
)
def test_refusals_of_the_api_server(spec: dict[str, Any], field: str, code: str) -> None:
    (problem,) = read(placement(**spec), *all_bound()).problems
    assert field in problem.message
    assert problem.code == code
