"""Kalypso's scheduler: which pairs are assigned, by which policies and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import UsageError
from kalypso_actions.model.kinds import (
    ClusterType,
    DeploymentTarget,
    LabelSelector,
    SchedulingPolicy,
)
from kalypso_actions.scheduling import (
    CompiledPolicy,
    LabelScheduler,
    Schedule,
    compile_policy,
    compile_selector,
)
from kalypso_actions.scheduling.interface import Selector
from kalypso_actions.scheduling.labels import LabelIndex, TargetIndex
from kalypso_actions.scheduling.registry import find_scheduler, trusted_scheduler
from tests.builders import cluster_type, fleet, policy, selector, target

LARGE = cluster_type("large", size="large")
SMALL = cluster_type("small", size="small")
WEB = target("web", tier="front")
JOB = target("job", tier="back", workspace="batch")


def schedule(*policies: SchedulingPolicy) -> Schedule:
    return LabelScheduler().schedule(
        fleet(cluster_types=[LARGE, SMALL], targets=[JOB, WEB], policies=policies)
    )


def pairs(result: Schedule) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(a.cluster_type.name, a.target.name, a.policies) for a in result.assignments]


def test_every_selected_target_on_every_selected_cluster_type() -> None:
    assert pairs(schedule(policy("all"))) == [
        ("large", "app-job", ("all",)),
        ("large", "app-web", ("all",)),
        ("small", "app-job", ("all",)),
        ("small", "app-web", ("all",)),
    ]


def test_selectors_narrow_both_sides() -> None:
    front = policy("p", targets=selector(tier="front"), cluster_types=selector(size="small"))
    assert pairs(schedule(front)) == [("small", "app-web", ("p",))]


def test_workspace_must_match() -> None:
    assert pairs(
        schedule(policy("p", workspace="batch", cluster_types=selector(size="large")))
    ) == [("large", "app-job", ("p",))]
    assert pairs(schedule(policy("p", workspace="nobody"))) == []


def test_a_pair_is_assigned_once_with_all_its_policies() -> None:
    first = policy("a", targets=selector(tier="front"), cluster_types=selector(size="large"))
    second = policy("b", cluster_types=selector(size="large"))
    assert pairs(schedule(first, second)) == [
        ("large", "app-job", ("b",)),
        ("large", "app-web", ("a", "b")),
    ]


def test_no_policies_no_assignments() -> None:
    assert pairs(schedule()) == []


def test_order_does_not_depend_on_the_input_order() -> None:
    policies = [policy("a", targets=selector(tier="front")), policy("b"), policy("c")]
    results = {
        tuple((c, t) for c, t, _ in pairs(schedule(*order)))
        for order in itertools.permutations(policies)
    }
    assert len(results) == 1


def test_an_invalid_policy_assigns_nothing_and_is_a_problem() -> None:
    broken = policy("broken", targets=selector(("tier", "Within", ["x"])))
    result = schedule(broken, policy("fine", cluster_types=selector(size="small")))
    assert [c for c, _, _ in pairs(result)] == ["small", "small"]
    assert [problem.message for problem in result.problems] == [
        "SchedulingPolicy 'broken': deploymentTargetSelector: 'Within' is not a selector operator"
    ]


def test_reasons_name_the_requirement_that_failed_and_the_value() -> None:
    result = schedule(
        policy("p", workspace="team", targets=selector(tier="back"), cluster_types=selector())
    )
    (decision,) = result.explain(WEB, LARGE)
    assert not decision.selected
    matches = [(m.requirement, m.value, m.matched) for m in decision.target_matches]
    assert matches == [
        ("workspace = team", "team", True),
        ("tier = back", "front", False),
    ]


def test_found_by_name() -> None:
    assert isinstance(find_scheduler(), LabelScheduler)
    with pytest.raises(UsageError, match="there is no scheduler 'nobody'"):
        find_scheduler("nobody")


@pytest.mark.parametrize(
    ("named", "known", "expected"),
    [
        ("", {"plugin"}, ""),
        ("labels", {""}, "labels"),
        ("placement", {""}, "placement"),
        ("plugin", {"", "plugin"}, "plugin"),
        ("plugin", {"", "other"}, "before"),
    ],
)
def test_a_change_may_use_plugins_that_are_known(
    named: str, known: set[str], expected: str
) -> None:
    assert trusted_scheduler(named, known, "before") == expected


# The indexes give the same objects as matching each object.

KEYS = st.sampled_from(["size", "region", "tier"])
VALUES = st.sampled_from(["", "a", "b", "c"])
LABELS = st.dictionaries(KEYS, VALUES)
NAMES = st.sampled_from("abcde")
WORKSPACES = st.sampled_from(["", "team", "batch"])
CLUSTER_TYPES = st.lists(
    st.builds(lambda name, labels: cluster_type(name, **labels), NAMES, LABELS),
    unique_by=lambda item: item.name,
)
TARGETS = st.lists(
    st.builds(lambda name, place, labels: target(name, workspace=place, **labels), NAMES, WORKSPACES, LABELS),
    unique_by=lambda item: item.name,
)  # fmt: skip
EXPRESSIONS: st.SearchStrategy[tuple[str, str, list[str]]] = st.one_of(
    st.tuples(KEYS, st.sampled_from(["In", "NotIn"]), st.lists(VALUES, min_size=1, max_size=3)),
    st.tuples(KEYS, st.sampled_from(["Exists", "DoesNotExist"]), st.builds(list)),
)
SELECTORS = st.lists(EXPRESSIONS, max_size=3).map(lambda expressions: selector(*expressions))


@given(CLUSTER_TYPES, SELECTORS, st.sets(NAMES))
def test_the_selected_objects_are_those_that_match(
    cluster_types: list[ClusterType], wanted: LabelSelector, besides: set[str]
) -> None:
    compiled = compiled_selector(wanted)
    matching = [item for item in cluster_types if compiled.matches(item.labels)]
    index = LabelIndex(cluster_types)
    assert names(index.selected(compiled)) == names(matching)
    others = [item for item in matching if item.name not in besides]
    assert names(index.selected(compiled, besides)) == names(others)


@given(TARGETS, SELECTORS, WORKSPACES)
def test_a_policy_selects_the_same_targets_of_an_index(
    targets: list[DeploymentTarget], wanted: LabelSelector, workspace: str
) -> None:
    compiled = compiled_policy(wanted, workspace)
    matching = [item for item in targets if compiled.selects_target(item)]
    assert names(compiled.selected_targets(TargetIndex(targets))) == names(matching)


def names(items: Iterable[ClusterType | DeploymentTarget]) -> list[str]:
    return sorted(item.name for item in items)


def compiled_selector(wanted: LabelSelector) -> Selector:
    compiled, problems = compile_selector(wanted, "")
    assert compiled, problems
    return compiled


def compiled_policy(wanted: LabelSelector, workspace: str) -> CompiledPolicy:
    compiled, problems = compile_policy(policy("p", targets=wanted, workspace=workspace))
    assert compiled, problems
    return compiled
