"""The scheduler `placement`: policies, decisions so far, misconfiguration, time."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.gitops.provenance import placements_file, read_placements
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import ClusterType, Fleet, SchedulingPolicy
from kalypso_actions.model.placements import PlacedDecision, PlacementState
from kalypso_actions.scheduling import LabelScheduler, Schedule
from kalypso_placement.scheduler import PlacementScheduler
from tests.breaks import breaks, turned
from tests.builders import cluster_type, fleet, policy, selector, target
from tests.placement.hubs import Body, placement, prioritizing, score, selecting

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TAINT = "[{key: edge, effect: NoSelect, timeAdded: '2026-03-01T11:00:00Z'}]"


def annotated(of: ClusterType, **annotations: str) -> ClusterType:
    named = {f"kalypso.io/{key.replace('_', '-')}": text for key, text in annotations.items()}
    return dataclasses.replace(of, annotations=named)


def placed(
    name: str = "all", *, by: str = "app", scope: str = "", **selectors: Any
) -> SchedulingPolicy:
    annotations = {"kalypso.io/placement": by}
    if scope:
        annotations["kalypso.io/placement-scope"] = scope
    return dataclasses.replace(policy(name, **selectors), annotations=annotations)


def decisions(*cluster_types: str, target: str = "*", time: str = "before") -> PlacedDecision:
    return PlacedDecision("all", "app", target, cluster_types, time)


def scheduled(
    documents: Sequence[Body],
    *,
    cluster_types: Sequence[ClusterType] = (),
    policies: Sequence[SchedulingPolicy] = (),
    so_far: Sequence[PlacedDecision] | None = (),
    targets: Sequence[str] = ("t1",),
    assigned: dict[str, tuple[str, ...]] | None = None,
) -> tuple[Schedule, Fleet]:
    place = Location("plane", ".github/kalypso/app.yaml", 3)
    state = PlacementState(
        tuple(Document(body, place, {}) for body in documents),
        None if so_far is None else tuple(so_far),
        assigned or {},
        NOW,
    )
    given = fleet(
        cluster_types=cluster_types or [cluster_type(name) for name in ("c1", "c2", "c3")],
        targets=[target(name) for name in targets],
        policies=policies or [placed()],
    )
    given = dataclasses.replace(given, placement=state)
    return PlacementScheduler().schedule(given), given


def pairs(schedule: Schedule) -> list[tuple[str, str]]:
    return [(a.cluster_type.name, a.target.name) for a in schedule.assignments]


def codes(schedule: Schedule) -> list[str]:
    return [problem.code for problem in (*schedule.problems, *schedule.warnings)]


@breaks(
    "the clusterTypeSelector of a policy with a Placement does not count",
    turned(
        "kalypso_placement.scheduler._SchedulingRun._decide",
        "unit.policy.cluster_types.matches(cluster.labels)",
        "True",
    ),
)
def test_both_selectors_hold_and_the_decision_is_recorded() -> None:
    few = placed(cluster_types=selector(("size", "In", ["s"])))
    types = [
        cluster_type("c1", size="l"),
        cluster_type("c2", size="s"),
        cluster_type("c3", size="s"),
    ]
    schedule, _ = scheduled(
        [placement(numberOfClusters=1)],
        cluster_types=types,
        policies=[few],
        so_far=[decisions("c3")],
    )
    assert pairs(schedule) == [("c3", "app-t1")]
    assert schedule.placements == (decisions("c3"),)
    schedule, _ = scheduled([placement(numberOfClusters=1)], cluster_types=types, policies=[few])
    assert schedule.placements == (decisions("c2", time="2026-03-01T12:00:00Z"),)


def test_without_a_record_the_holders_of_targets_are_incumbents() -> None:
    schedule, _ = scheduled(
        [placement(numberOfClusters=1)], so_far=None, assigned={"app-t1": ("c2",)}
    )
    assert pairs(schedule) == [("c2", "app-t1")]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"tolerations": [{"operator": "Exists", "value": "x"}]}, id="toleration"),
        pytest.param({"predicates": [selecting(labels={"a b": "c"})]}, id="selector"),
        pytest.param({"numberOfClusters": -1}, id="negative"),
    ],
)
def test_misconfiguration_keeps_the_last_decision_and_is_a_problem(spec: Body) -> None:
    schedule, _ = scheduled([placement(**spec)], so_far=[decisions("c2", "gone")])
    assert pairs(schedule) == [("c2", "app-t1")]
    (problem,) = schedule.problems
    assert problem.code == "placement-misconfigured"
    assert str(problem.where) == "plane: .github/kalypso/app.yaml:3"


@pytest.mark.parametrize(
    ("documents", "policies", "expected"),
    [
        pytest.param([], [placed()], ["placement-unknown"], id="unknown"),
        pytest.param([placement()], [policy("all")], ["placement-unused"], id="unused"),
        pytest.param([placement(), placement()], [placed()], ["placement-duplicate"], id="twice"),
        pytest.param([placement()], [placed(scope="x")], ["placement-scope-invalid"], id="scope"),
        pytest.param(
            [placement(predicates=[selecting(labels={"no": "one"})])],
            [placed()],
            ["placement-finds-nothing"],
            id="nothing",
        ),
        pytest.param(
            [placement(numberOfClusters=5)], [placed()], ["placement-finds-too-few"], id="too-few"
        ),
        pytest.param([placement(sortBy="x")], [placed()], ["placement-refused"], id="refused"),
        pytest.param(
            [{**placement(), "apiVersion": "cluster.open-cluster-management.io/v1alpha1"}],
            [placed()],
            ["placement-refused"],
            id="version",
        ),
    ],
)
def test_findings(
    documents: list[Body], policies: list[SchedulingPolicy], expected: list[str]
) -> None:
    assert codes(scheduled(documents, policies=policies)[0]) == expected


def test_a_policy_without_annotation_places_by_labels() -> None:
    by_labels = policy("labels", cluster_types=selector(("size", "In", ["l"])))
    types = [cluster_type("c1"), cluster_type("c2", size="l")]
    schedule, _ = scheduled(
        [placement(numberOfClusters=1)], cluster_types=types, policies=[placed(), by_labels]
    )
    assert pairs(schedule) == [("c1", "app-t1"), ("c2", "app-t1")]


def test_the_scheduler_labels_refuses_the_annotation() -> None:
    (problem,) = LabelScheduler().schedule(fleet(policies=[placed()])).problems
    assert problem.code == "placement-without-scheduler"


def test_each_target_has_its_own_decision_balanced_against_the_others() -> None:
    schedule, _ = scheduled(
        [placement(numberOfClusters=1)],
        policies=[placed(scope="target")],
        targets=["t1", "t2", "t3", "t4"],
    )
    assert pairs(schedule) == [
        ("c1", "app-t1"),
        ("c1", "app-t4"),
        ("c2", "app-t2"),
        ("c3", "app-t3"),
    ]


def test_cluster_sets_and_claims_of_cluster_types() -> None:
    types = [
        annotated(cluster_type("c1", reconciler="argocd"), cluster_sets="[shops]"),
        annotated(cluster_type("c2"), cluster_sets="[shops]"),
        cluster_type("c3", reconciler="argocd"),
    ]
    claim = {"key": "reconciler", "operator": "In", "values": ["argocd"]}
    spec = {"clusterSets": ["shops"], "predicates": [selecting(claims=[claim])]}
    schedule, _ = scheduled([placement(**spec)], cluster_types=types)
    assert pairs(schedule) == [("c1", "app-t1")]


def test_wrong_annotations_are_problems_of_the_cluster_type() -> None:
    types = [annotated(cluster_type("c1"), taints="[{key: edge, effect: NoExecute}]")]
    (problem,) = scheduled([placement()], cluster_types=types)[0].problems
    assert problem.code == "annotation-invalid"
    assert "NoExecute" in problem.message


def test_the_next_look_is_the_end_of_new_decisions_and_scores() -> None:
    types = [annotated(cluster_type("c1"), taints=TAINT), cluster_type("c2")]
    tolerating = {"tolerations": [{"operator": "Exists", "tolerationSeconds": 7200}]}
    schedule, _ = scheduled([placement(**tolerating)], cluster_types=types)
    assert schedule.requeue_time == datetime(2026, 3, 1, 13, tzinfo=UTC)
    scoring = {"prioritizerPolicy": prioritizing(("cost/eur", 1)), **tolerating}
    published = [
        score("cost", "c2", until="2026-03-01T12:30:00Z", eur=5),
        score("cost", "c1", until="2026-03-01T11:30:00Z", eur=5),
    ]
    schedule, _ = scheduled([placement(**scoring), *published], cluster_types=types)
    assert schedule.requeue_time == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert codes(schedule) == ["placement-scores-expired"]


def test_spread_is_executed() -> None:
    types = [cluster_type(f"{r}{n}", region=r) for r in ("eu", "us") for n in (1, 2)]
    term = {"topologyKey": "region", "topologyKeyType": "Label"}
    spread = placement(numberOfClusters=2, spreadPolicy={"spreadConstraints": [term]})
    schedule, _ = scheduled([spread], cluster_types=types)
    assert pairs(schedule) == [("eu1", "app-t1"), ("us1", "app-t1")]


def test_the_order_of_inputs_does_not_matter() -> None:
    types = [cluster_type(f"c{n}", zone=str(n % 3)) for n in range(12)]
    spec = placement(numberOfClusters=4, predicates=[selecting(labels={"zone": "1"})])
    expected, _ = scheduled([spec], cluster_types=types, so_far=[decisions("c4")])
    for seed in range(5):
        shuffled = random.Random(seed).sample(types, len(types))
        schedule, _ = scheduled([spec], cluster_types=shuffled, so_far=[decisions("c4")])
        assert schedule.assignments == expected.assignments


def test_the_steps_explain_a_cluster_type() -> None:
    types = [annotated(cluster_type("c1"), taints=TAINT), cluster_type("c2"), cluster_type("c3")]
    schedule, given = scheduled([placement(numberOfClusters=1)], cluster_types=types)
    steps = {
        item.name: [
            (step.name, step.detail, step.passed)
            for step in schedule.explain(given.targets[0], item)[0].steps
        ]
        for item in given.cluster_types
    }
    assert steps["c1"][-1] == (
        "Placement app: TaintToleration",
        "the taint edge=:NoSelect is not tolerated",
        False,
    )
    assert steps["c2"][2:4] == [
        ("Placement app: Balance", "100 × 1", None),
        ("Placement app: Steady", "0 × 1", None),
    ]
    assert steps["c3"][-1] == ("Placement app: cut", "total 100, place 2 of 2, 1 wanted", False)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param(
            {
                "predicates": [
                    selecting(labels={"zone": "a", "tier": "gold"}),
                    selecting(claims=[{"key": "link", "operator": "Exists"}]),
                ]
            },
            "Predicate: predicate 1: label tier = gold (it is absent) and label zone = a (it is b); "
            "predicate 2: claim link exists (it is absent)",
            id="label-and-claim",
        ),
        pytest.param(
            {"predicates": [selecting(cel="managedCluster.metadata.name == 'c2'")]},
            "Predicate: CEL managedCluster.metadata.name == 'c2' (is false)",
            id="expression",
        ),
        pytest.param(
            {"predicates": [selecting(cel="managedCluster.spec.no")]},
            "Predicate: CEL managedCluster.spec.no (fails: no such key: no)",
            id="expression-that-fails",
        ),
        pytest.param(
            {"tolerations": [{"operator": "Exists", "tolerationSeconds": 60}]},
            "TaintToleration: the taint edge=:NoSelect is not tolerated since 2026-03-01T11:01:00Z",
            id="toleration-that-ended",
        ),
        pytest.param(
            {"clusterSets": ["shops", "depots"]},
            "cluster sets: is in labs, not in shops or depots",
            id="sets",
        ),
    ],
)
def test_the_step_that_drops_a_cluster_type_names_the_term(spec: Body, reason: str) -> None:
    dropped = annotated(cluster_type("c1", zone="b"), taints=TAINT, cluster_sets="[labs]")
    schedule, given = scheduled(
        [placement(**spec)], cluster_types=[dropped], so_far=[decisions("c1")]
    )
    first, *_, last = schedule.explain(given.targets[0], dropped)[0].steps
    assert (first.name, first.detail, first.passed) == ("Placement app: so far", "selected", None)
    assert (f"{last.name}: {last.detail}", last.passed) == (f"Placement app: {reason}", False)


def test_a_placement_that_does_not_exist_is_the_step_that_fails() -> None:
    schedule, given = scheduled([])
    (decision,) = schedule.explain(given.targets[0], given.cluster_types[0])
    assert not decision.selected
    assert decision.steps[-1].detail == "there is no such Placement"


def test_the_record_can_be_read_again() -> None:
    schedule = (decisions("c1", "c2"), decisions("c3", target="app-t1"))
    assert read_placements(placements_file(schedule)) == schedule
    assert read_placements(b"{}") is read_placements(None) is None
