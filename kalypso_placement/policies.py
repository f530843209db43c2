"""Policies that name a Placement, and the units of decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import DeploymentTarget, Fleet
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.placements import (
    EVERY_TARGET,
    PLACEMENT_ANNOTATION,
    SCOPE_ANNOTATION,
    PlacementState,
)
from kalypso_actions.scheduling.labels import CompiledPolicy
from kalypso_placement.objects import EarlierDecision, Placement

SCOPES = ("policy", "target")


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one decision: a policy, its Placement, and one target or all of them."""

    policy: CompiledPolicy
    placement: Placement
    target: str
    targets: tuple[DeploymentTarget, ...]

    @property
    def own_placement(self) -> Placement:
        """The Placement, renamed to the unit, so that each unit has its own decisions."""
        name = _name(self.target)
        return dataclasses.replace(self.placement, name=name, namespace=self.policy.name)


def units(
    policies: Sequence[CompiledPolicy], placements: Mapping[str, Placement], fleet: Fleet
) -> Iterator[Unit]:
    """Yield the units of the policies that name a known Placement, in the order of names."""
    for policy in policies:
        placement = placements.get(placement_of(policy))
        if placement is None:
            continue
        targets = tuple(target for target in fleet.targets if policy.selects_target(target))
        if scope_of(policy) == "target":
            for target in targets:
                yield Unit(policy, placement, target.name, (target,))
        else:
            yield Unit(policy, placement, EVERY_TARGET, targets)


def placement_of(policy: CompiledPolicy) -> str:
    """Return the name of the Placement that a policy names; "" for none."""
    return policy.policy.annotations.get(PLACEMENT_ANNOTATION, "").strip()


def scope_of(policy: CompiledPolicy) -> str:
    """Return `policy` for one decision of a policy, `target` for one decision for each target."""
    return policy.policy.annotations.get(SCOPE_ANNOTATION, "").strip() or SCOPES[0]


def faults(
    policies: Sequence[CompiledPolicy], placements: Mapping[str, Placement], refused: Set[str]
) -> Iterator[Problem]:
    """Report invalid annotations of policies; `refused` Placements already have a problem."""
    known = ", ".join(sorted(placements)) or "none"
    for policy in policies:
        owner = f"SchedulingPolicy {policy.name!r}"
        where = policy.policy.placement_where or policy.policy.where
        name = placement_of(policy)
        if name and name not in placements and name not in refused:
            close = nearest(name, sorted(placements))
            suggestion = f"did you mean {close}? " if close else ""
            advice = f"{suggestion}The Placements of .github/kalypso are: {known}"
            message = f"{owner} names the Placement {name!r}, which does not exist"
            yield Problem(message, where, advice, "placement-unknown")
        if scope_of(policy) not in SCOPES:
            message = f"{owner} has the placement-scope {scope_of(policy)!r}"
            yield Problem(message, where, "write policy or target", "placement-scope-invalid")


def decisions_so_far(all_units: Sequence[Unit], state: PlacementState) -> list[EarlierDecision]:
    """Return the decisions of all units, or the cluster types that hold their targets."""
    if state.decisions is not None:
        return [
            EarlierDecision(item.policy, _name(item.target), item.cluster_types)
            for item in state.decisions
        ]
    return [
        EarlierDecision(unit.policy.name, _name(unit.target), tuple(sorted(holders)))
        for unit in all_units
        if (holders := {c for target in unit.targets for c in state.assigned.get(target.name, ())})
    ]


def _name(target: str) -> str:
    return "all" if target == EVERY_TARGET else target
