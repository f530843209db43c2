"""The targets and cluster types that a question names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget
from kalypso_actions.model.nearest import nearest
from kalypso_actions.planning.explanation.environment import ExplainedEnvironment

MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of an answer: all targets and cluster types, or the named ones.

    `targets` is () for all targets; the name of a Workload gives all of its targets.
    """

    environment: ExplainedEnvironment
    targets: tuple[DeploymentTarget, ...]
    cluster_type: ClusterType | None

    @classmethod
    def of(
        cls, environment: ExplainedEnvironment, target: str = "", cluster_type: str = ""
    ) -> Question:
        """Find the targets and cluster type with these names; "" means all.

        Raises UsageError for an unknown name, with the nearest one, and KalypsoError for a target
        of other environments.
        """
        return cls(
            environment,
            _targets(environment, target) if target else (),
            _cluster_type(environment, cluster_type) if cluster_type else None,
        )

    @property
    def names_a_pair(self) -> bool:
        """Whether the question is about one target on one cluster type."""
        return len(self.targets) == 1 and self.cluster_type is not None

    @property
    def assignments(self) -> Iterator[Assignment]:
        """The assignments that the question is about."""
        targets = {target.name for target in self.targets}
        for item in self.environment.schedule.assignments:
            is_type = self.cluster_type in (None, item.cluster_type)
            if is_type and (not targets or item.target.name in targets):
                yield item

    @property
    def pairs(self) -> Iterator[tuple[DeploymentTarget, ClusterType]]:
        """The pairs that the question is about, assigned or not, by target and cluster type."""
        fleet = self.environment.fleet
        cluster_types = (self.cluster_type,) if self.cluster_type else fleet.cluster_types
        for target in self.targets or fleet.targets:
            for cluster_type in cluster_types:
                yield target, cluster_type


def _targets(environment: ExplainedEnvironment, name: str) -> tuple[DeploymentTarget, ...]:
    """Return the target of this name, or else the targets of the Workload of this name."""
    fleet = environment.fleet
    targets = tuple(target for target in fleet.targets if target.name == name)
    targets = targets or tuple(target for target in fleet.targets if target.workload == name)
    if targets:
        return targets
    others = tuple(_of_other_environments(environment))
    elsewhere = [target for target in others if name in {target.name, target.workload}]
    if elsewhere:
        environments = dict.fromkeys(target.environment for target in elsewhere)
        raise KalypsoError(
            f"the target {name!r} is not for {fleet.environment}: it is for "
            f"{abbreviated(list(environments), MOST_NAMES)}",
            elsewhere[0].environment_where or elsewhere[0].where,
            f"add a deployment target whose environment is {fleet.environment}",
        )
    known = [target.name for target in fleet.targets]
    workloads = [target.workload for target in fleet.targets]
    advice = _advice(name, dict.fromkeys((*known, *workloads)), "targets", known)
    if environment.unread_registrations:
        unread = abbreviated(environment.unread_registrations, MOST_NAMES)
        advice += f"\ntargets of registrations that cannot be read are unknown: {unread}"
    message = f"there is no deployment target {name!r} in {fleet.environment}"
    raise UsageError(message, advice=advice)


def _of_other_environments(environment: ExplainedEnvironment) -> Iterator[DeploymentTarget]:
    yield from environment.fleet.other_targets
    for reading in environment.snapshot.registrations:
        for workload in reading.workloads:
            yield from workload.targets


def _cluster_type(environment: ExplainedEnvironment, name: str) -> ClusterType:
    fleet = environment.fleet
    for cluster_type in fleet.cluster_types:
        if cluster_type.name == name:
            return cluster_type
    known = [cluster_type.name for cluster_type in fleet.cluster_types]
    raise UsageError(
        f"there is no cluster type {name!r} in {fleet.environment}",
        advice=_advice(name, known, "cluster types", known),
    )


def _advice(name: str, candidates: Iterable[str], noun: str, known: list[str]) -> str:
    return f"{suggestion(name, candidates)}{noun}: {abbreviated(known, MOST_NAMES) or 'none'}"


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """Return `did you mean x? ` for the nearest candidate; "" if none is near."""
    close = nearest(name, candidates)
    return f"did you mean {close}? " if close else ""
