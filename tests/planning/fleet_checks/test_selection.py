"""The checks find the same as comparing every policy with every target and cluster type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Diagnostics
from kalypso_actions.model.kinds import FLUX_NAME_LABEL
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView
from kalypso_actions.planning.fleet_checks.policies import check_policies, misspelled_values
from kalypso_actions.scheduling.interface import Requirement
from tests.builders import cluster_type, fleet, policy, selector, target

KEYS = st.sampled_from(["size", "region"])
VALUES = st.sampled_from(["west", "north", ""])
LABELS = st.dictionaries(KEYS, VALUES)
WORKSPACES = st.sampled_from(["", "team", "batch"])
SELECTORS = LABELS.map(lambda labels: selector(**labels))
CLUSTER_TYPES = st.lists(
    st.builds(lambda name, labels: cluster_type(name, **labels), st.sampled_from("abc"), LABELS),
    unique_by=lambda item: item.name,
)
TARGETS = st.lists(
    st.builds(lambda name, place, labels: target(name, workspace=place, **labels), st.sampled_from("abc"), WORKSPACES, LABELS),
    unique_by=lambda item: item.name,
)  # fmt: skip
POLICIES = st.lists(
    st.builds(lambda name, place, targets, types: policy(name, workspace=place, targets=targets, cluster_types=types), st.sampled_from("pq"), WORKSPACES, SELECTORS, SELECTORS),
    unique_by=lambda item: item.name,
)  # fmt: skip
OWN = st.frozensets(st.sampled_from("abc").map(lambda name: ("ClusterType", name)))
SCOPES = st.builds(
    lambda own, types, targets, policies: FleetScope(
        fleet(cluster_types=types, targets=targets, policies=policies), (), own
    ),
    OWN, CLUSTER_TYPES, TARGETS, POLICIES,
)  # fmt: skip
VIEWS = st.builds(
    lambda scopes, is_complete: FleetView(tuple(scopes), None, is_complete),
    st.lists(SCOPES, max_size=3), st.booleans(),
)  # fmt: skip


@given(SCOPES)
def test_selected_targets(scope: FleetScope) -> None:
    for item in scope.fleet.targets:
        is_selected = any(policy.selects_target(item) for policy in scope.policies)
        assert scope.is_selected(item) == is_selected


@given(VIEWS)
def test_unselected_cluster_types(view: FleetView) -> None:
    diagnostics = Diagnostics()
    check_policies(view, diagnostics)
    notes = [item.where for item in diagnostics.notes if item.code == "cluster-type-unselected"]
    assert notes == [
        cluster_type.where
        for cluster_type, scopes in view.judged(lambda fleet: fleet.cluster_types)
        if not any(
            policy.cluster_types.matches(cluster_type.labels)
            for scope in scopes
            for policy in scope.policies
        )
    ]


def test_a_shared_cluster_type_has_the_labels_of_the_first_environment() -> None:
    north = policy("north", cluster_types=selector(region="north"))
    scopes = tuple(
        FleetScope(
            fleet(cluster_types=[cluster_type("edge", region=region)], policies=[north]),
            (),
            frozenset(),
        )
        for region in ("west", "north")
    )
    diagnostics = Diagnostics()
    check_policies(FleetView(scopes, None, is_complete=True), diagnostics)
    assert [item.code for item in diagnostics.notes] == ["cluster-type-unselected"]


@pytest.mark.parametrize(
    ("key", "values", "present", "expected"),
    [
        pytest.param("region", {"wets"}, [{"west"}], [("wets", {"west"})], id="misspelled"),
        pytest.param("region", {"wets", "east"}, [{"west"}], [("wets", {"west", "east"})], id="other values stay"),
        pytest.param("region", {"wets"}, [{"west"}, {"wets"}], [], id="in another environment"),
        pytest.param("region", {"wets", "west"}, [{"west"}], [], id="the requirement lists both"),
        pytest.param("region", {"edge", ""}, [{"west", ""}], [], id="unlike all"),
        pytest.param(FLUX_NAME_LABEL, {"wets"}, [{"west"}], [], id="label of Flux"),
    ],
)  # fmt: skip
def test_misspelled_values(
    key: str, values: set[str], present: list[set[str]], expected: list[tuple[str, set[str]]]
) -> None:
    corrected = misspelled_values(Requirement(key, "In", frozenset(values)), present)
    assert [(value, {*requirement.values}) for value, requirement in corrected] == expected
