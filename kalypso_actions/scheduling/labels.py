"""Kalypso's own scheduler: a policy selects targets and cluster types by their labels."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

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
from kalypso_actions.scheduling.interface import Decision, Schedule, Scheduler
from kalypso_actions.scheduling.label_index import LabelIndex, TargetIndex
from kalypso_actions.scheduling.selectors import RequirementMatch, Selector, compile_selector


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
        faults = [problem for _, problems in results for problem in problems]
        return Schedule(
            assignments=assignments_of(fleet, pairs_of(compiled, fleet)),
            problems=(*faults, *_placements_without_scheduler(fleet.policies)),
            explain=lambda target, cluster_type: tuple(
                policy.decision(target, cluster_type) for policy in compiled
            ),
            warnings=tuple(_unread_placements(fleet.placement.documents)),
        )


def pairs_of(policies: Iterable[CompiledPolicy], fleet: Fleet) -> dict[tuple[str, str], list[str]]:
    """Return the policies that select each pair of a cluster type and a target by labels."""
    targets_by_label, types_by_label = TargetIndex(fleet.targets), LabelIndex(fleet.cluster_types)
    policies_of: dict[tuple[str, str], list[str]] = {}
    for policy in policies:
        targets = list(policy.selected_targets(targets_by_label))
        if not targets:
            continue
        for cluster_type in types_by_label.selected(policy.cluster_types):
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
            advice = f"annotate the Environment with {SCHEDULER_ANNOTATION}: placement"
            where = policy.placement_where or policy.where
            yield Problem(message, where, advice, "placement-without-scheduler")


def _unread_placements(documents: Iterable[Document]) -> Iterator[Problem]:
    """Warn about Placements: this scheduler does not read them."""
    for document in documents:
        if document.kind == "Placement":
            message = f"nothing reads the Placement {document.name!r}: the environment is "
            message += "scheduled by labels"
            advice = f"annotate the Environment with {SCHEDULER_ANNOTATION}: placement, or "
            advice += "remove the Placement"
            yield Problem(message, document.where, advice, "placement-unused")


def policy_faults(policy: SchedulingPolicy) -> tuple[Problem, ...]:
    """Return the problems that make a policy invalid."""
    return compile_policy(policy)[1]


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
