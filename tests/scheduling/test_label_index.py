"""The indexes give the same objects as matching each object."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.model.kinds import ClusterType, DeploymentTarget, LabelSelector
from kalypso_actions.scheduling import (
    CompiledPolicy,
    LabelIndex,
    Selector,
    TargetIndex,
    compile_policy,
    compile_selector,
)
from tests.builders import cluster_type, policy, selector, target

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
