"""Kalypso's own scheduler: a policy selects targets and cluster types by their labels."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import (
    Assignment,
    ClusterType,
    DeploymentTarget,
    Fleet,
    SchedulingPolicy,
)
from kalypso_actions.model.placements import PLACEMENT_ANNOTATION, SCHEDULER_ANNOTATION
from kalypso_actions.scheduling.interface import (
    Decision,
    RequirementMatch,
    Schedule,
    Scheduler,
    Selector,
    compile_selector,
)

Item = TypeVar("Item", DeploymentTarget, ClusterType)

_ADVICE: Final = f"annotate the Environment with {SCHEDULER_ANNOTATION}: placement"


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A valid policy, ready to match."""

    policy: SchedulingPolicy
    targets: Selector
    cluster_types: Selector

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.policy.name

    @property
    def workspace(self) -> str:
        """The workspace that the policy requires; "" for any."""
        return self.policy.workspace

    def selects_target(self, target: DeploymentTarget) -> bool:
        """Return whether the policy selects a target."""
        return self.workspace in {"", target.workspace} and self.targets.matches(target.labels)

    def selected_targets(
        self, targets: TargetIndex, besides: Container[str] = ()
    ) -> Iterator[DeploymentTarget]:
        """Yield the targets that the policy selects, except those with the names `besides`."""
        return targets.of(self.workspace).selected(self.targets, besides)

    def explain_target(self, target: DeploymentTarget) -> tuple[RequirementMatch, ...]:
        """Return how a target matches the policy's requirements."""
        matches = self.targets.explain(target.labels)
        if not self.workspace:
            return matches
        matched = self.workspace == target.workspace
        requirement, where = f"workspace = {self.workspace}", self.policy.workspace_where
        return (RequirementMatch(requirement, target.workspace, matched, where), *matches)

    def decision(self, target: DeploymentTarget, cluster_type: ClusterType) -> Decision:
        """Return how the policy matches a target and a cluster type."""
        cluster_type_matches = self.cluster_types.explain(cluster_type.labels)
        return Decision(self.name, self.explain_target(target), cluster_type_matches)


class LabelScheduler(Scheduler):
    """Assigns every selected target to every selected cluster type, each pair once.

    An invalid policy assigns nothing and is reported as a problem.
    """

    def schedule(self, fleet: Fleet) -> Schedule:
        """Apply every policy; an assignment names all policies that select it."""
        results = [compile_policy(policy) for policy in fleet.policies]
        compiled = [policy for policy, _ in results if policy is not None]
        by_name = {policy.name: policy for policy in compiled}
        faults = (problem for _, problems in results for problem in problems)
        return Schedule(
            assignments=assignments_of(fleet, pairs_of(compiled, fleet)),
            problems=(*faults, *_placements_without_scheduler(fleet.policies)),
            explain=lambda target, cluster_type: tuple(
                policy.decision(target, cluster_type) for policy in compiled
            ),
            warnings=tuple(_unread_placements(fleet.placement.documents)),
            explain_assignment=lambda item: tuple(
                by_name[name].decision(item.target, item.cluster_type) for name in item.policies
            ),
        )


def pairs_of(policies: Iterable[CompiledPolicy], fleet: Fleet) -> dict[tuple[str, str], list[str]]:
    """Return the policies that select each pair of a cluster type and a target by labels."""
    targets_by_label, types_by_label = TargetIndex(fleet.targets), LabelIndex(fleet.cluster_types)
    policies_of: dict[tuple[str, str], list[str]] = {}
    for policy in policies:
        targets = list(policy.selected_targets(targets_by_label))
        for cluster_type in types_by_label.selected(policy.cluster_types) if targets else ():
            for target in targets:
                policies_of.setdefault((cluster_type.name, target.name), []).append(policy.name)
    return policies_of


def _placements_without_scheduler(policies: Iterable[SchedulingPolicy]) -> Iterator[Problem]:
    """Report policies that name a Placement: this scheduler does not read Placements."""
    for policy in policies:
        name = policy.annotations.get(PLACEMENT_ANNOTATION, "").strip()
        if name:
            message = f"SchedulingPolicy {policy.name!r} names the Placement {name!r}, but the "
            message += "environment is scheduled by labels"
            where = policy.placement_where or policy.where
            yield Problem(message, where, _ADVICE, "placement-without-scheduler")


def _unread_placements(documents: Iterable[Document]) -> Iterator[Problem]:
    """Warn about Placements: this scheduler does not read them."""
    for document in documents:
        if document.kind == "Placement":
            message = f"nothing reads the Placement {document.name!r}: the environment is "
            message += "scheduled by labels"
            advice = f"{_ADVICE}, or remove the Placement"
            yield Problem(message, document.where, advice, "placement-unused")


def compile_policy(
    policy: SchedulingPolicy,
) -> tuple[CompiledPolicy | None, tuple[Problem, ...]]:
    """Return a policy that is ready to match, or None and the problems that make it invalid."""
    owner = f"SchedulingPolicy {policy.name!r}"
    targets, target_problems = compile_selector(
        policy.deployment_targets, f"{owner}: deploymentTargetSelector"
    )
    cluster_types, cluster_type_problems = compile_selector(
        policy.cluster_types, f"{owner}: clusterTypeSelector"
    )
    problems = target_problems + cluster_type_problems
    if targets is None or cluster_types is None:
        return None, problems
    return CompiledPolicy(policy, targets, cluster_types), problems


def assignments_of(
    fleet: Fleet, policies_of: Mapping[tuple[str, str], list[str]]
) -> tuple[Assignment, ...]:
    """Return the assignments of pairs, sorted by cluster type and target."""
    cluster_types = {cluster_type.name: cluster_type for cluster_type in fleet.cluster_types}
    targets = {target.name: target for target in fleet.targets}
    return tuple(
        Assignment(targets[target], cluster_types[cluster_type], tuple(policies))
        for (cluster_type, target), policies in sorted(policies_of.items())
    )


class LabelIndex(Generic[Item]):
    """Targets or cluster types, indexed by each label for which a caller asks."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items: Sequence[Item] = items
        self._by_key: dict[str, dict[str, list[Item]]] = {}

    def having(self, key: str) -> Mapping[str, Sequence[Item]]:
        """Return the objects that have a label, by its value."""
        by_value = self._by_key.get(key)
        if by_value is None:
            by_value = self._by_key[key] = {}
            for item in self._items:
                if key in item.labels:
                    by_value.setdefault(item.labels[key], []).append(item)
        return by_value

    def selected(self, selector: Selector, besides: Container[str] = ()) -> Iterator[Item]:
        """Yield the objects that a selector matches, except those with the names `besides`."""
        for item in self._candidates(selector):
            if item.name not in besides and selector.matches(item.labels):
                yield item

    def _candidates(self, selector: Selector) -> Sequence[Item]:
        """Return the objects that the most selective `In` matches; without an `In`, all objects."""
        fewest = self._items
        for requirement in selector.requirements:
            if requirement.operator == "In":
                having = self.having(requirement.key)
                groups = [having.get(value, ()) for value in requirement.values]
                if sum(map(len, groups)) < len(fewest):
                    fewest = [item for group in groups for item in group]
        return fewest


class TargetIndex:
    """Targets by workspace, then by label."""

    def __init__(self, targets: Iterable[DeploymentTarget]) -> None:
        by_workspace: dict[str, list[DeploymentTarget]] = {}
        all_targets = list(targets)
        for target in all_targets:
            by_workspace.setdefault(target.workspace, []).append(target)
        by_workspace[""] = all_targets
        self._by_workspace = {name: LabelIndex(items) for name, items in by_workspace.items()}

    def of(self, workspace: str) -> LabelIndex[DeploymentTarget]:
        """Return the targets that a policy of a workspace ("" for any) may select."""
        return self._by_workspace.get(workspace, _NONE)


_NONE: LabelIndex[DeploymentTarget] = LabelIndex(())
