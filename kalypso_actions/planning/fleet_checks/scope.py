"""The subjects of the checks: the fleets of one or all environments, as far as they were read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import (
    ClusterType,
    DeploymentTarget,
    Environment,
    Fleet,
    SchedulingPolicy,
    Workload,
    WorkloadRegistration,
)
from kalypso_actions.platform_config.matching import Reach
from kalypso_actions.scheduling.labels import (
    CompiledPolicy,
    LabelIndex,
    TargetIndex,
    compile_policy,
)

Key = tuple[str, str]


class Named(Protocol):
    """A resource with a name."""

    @property
    def name(self) -> str:
        """The name, unique in its kind."""


Resource = TypeVar("Resource", bound=Named)


@dataclass(frozen=True, eq=False)
class FleetScope:
    """The fleet of an environment with the Workloads that were read.

    `fleet` has their targets for the environment. `own` are the kinds and names of the documents on
    its own branch; all others come from its base repositories. `unread` are the registrations whose
    Workloads are unknown; `missing` tells, by name, why some of them have never been in the fleet.
    """

    fleet: Fleet
    workloads: tuple[Workload, ...]
    own: Set[Key]
    unread: tuple[WorkloadRegistration, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        fleet: Fleet,
        documents: Iterable[Document],
        workloads: Iterable[Workload],
        unread: Iterable[WorkloadRegistration] = (),
        missing: Mapping[str, str] | None = None,
    ) -> FleetScope:
        """Add Workloads to a fleet without any; `documents` are on the environment's own branch."""
        read = tuple(workloads)
        targets = {
            target.name: target
            for workload in read
            for target in workload.targets
            if target.environment == fleet.environment
        }
        targets |= {target.name: target for target in fleet.targets}
        return cls(
            dataclasses.replace(fleet, targets=tuple(targets[name] for name in sorted(targets))),
            read,
            frozenset((document.kind, document.name) for document in documents),
            tuple(unread),
            missing or {},
        )

    @property
    def environment(self) -> str:
        """The name of the environment."""
        return self.fleet.environment

    @cached_property
    def policies(self) -> tuple[CompiledPolicy, ...]:
        """The valid policies, ready to match."""
        compiled = (compile_policy(policy)[0] for policy in self.fleet.policies)
        return tuple(policy for policy in compiled if policy is not None)

    @cached_property
    def invalid_policies(self) -> tuple[SchedulingPolicy, ...]:
        """The policies with a faulty selector."""
        valid = {policy.name for policy in self.policies}
        return tuple(policy for policy in self.fleet.policies if policy.name not in valid)

    @cached_property
    def own_policies(self) -> list[str]:
        """The names of the policies on the environment's own branch, sorted."""
        return sorted(name for kind, name in self.own if kind == "SchedulingPolicy")

    @cached_property
    def all_targets(self) -> tuple[DeploymentTarget, ...]:
        """The targets of all environments, as far as they are known."""
        of_workloads = (target for workload in self.workloads for target in workload.targets)
        hand_written = (t for t in self.fleet.targets if not t.registration)
        return (*of_workloads, *hand_written, *self.fleet.other_targets)

    @cached_property
    def reach(self) -> Reach:
        """The labels of cluster types and targets, including other environments' targets.

        Configuration of this environment may be waiting for labels that only those have.
        """
        return Reach(self.fleet.cluster_types, self.all_targets)

    @cached_property
    def cluster_types_by_label(self) -> LabelIndex[ClusterType]:
        """The cluster types of the environment."""
        return LabelIndex(self.fleet.cluster_types)

    @cached_property
    def targets_by_label(self) -> TargetIndex:
        """The targets of the environment."""
        return TargetIndex(self.fleet.targets)

    @cached_property
    def all_targets_by_label(self) -> TargetIndex:
        """The targets of all environments, as far as they are known."""
        return TargetIndex(self.all_targets)

    @cached_property
    def workspaces(self) -> Set[str]:
        """The workspaces of registrations and targets."""
        of_registrations = {registration.workspace for registration in self.fleet.registrations}
        return {*of_registrations, *(target.workspace for target in self.all_targets)} - {""}

    @cached_property
    def _selected_targets(self) -> Set[str]:
        """The names of the targets that a policy selects."""
        names: set[str] = set()
        for policy in self.policies:
            targets = policy.selected_targets(self.targets_by_label, besides=names)
            names |= {target.name for target in targets}
        return names

    @cached_property
    def without_workspace(self) -> tuple[WorkloadRegistration, ...]:
        """The registrations whose missing workspace may hide their targets from policies."""
        if not any(policy.workspace for policy in self.policies):
            return ()
        all_require = all(policy.workspace for policy in self.policies)
        unselected = {
            target.registration for target in self.fleet.targets if not self.is_selected(target)
        }
        return tuple(
            registration
            for registration in self.fleet.registrations
            if not registration.workspace and (all_require or registration.name in unselected)
        )

    def is_own(self, resource: Named) -> bool:
        """Whether the environment's own branch defines a resource."""
        return (type(resource).__name__, resource.name) in self.own

    def is_selected(self, target: DeploymentTarget) -> bool:
        """Whether a policy selects a target of the environment."""
        return target.name in self._selected_targets

    def may_have_more_targets(self, workspace: str = "") -> bool:
        """Whether a registration of a workspace ("" for any) was not read."""
        return any(not workspace or item.workspace == workspace for item in self.unread)


@dataclass(frozen=True, slots=True)
class FleetView:
    """The fleets of environments that are checked together.

    `environments` are the Environments of main by name; None if main was not read. `is_complete`
    tells whether each Environment has a scope; `faults` tell why some have none.
    """

    scopes: tuple[FleetScope, ...]
    environments: Mapping[str, Environment] | None = None
    is_complete: bool = False
    faults: tuple[Problem, ...] = ()

    def judged(
        self, resources: Callable[[Fleet], Iterable[Resource]]
    ) -> Iterator[tuple[Resource, tuple[FleetScope, ...]]]:
        """Yield each resource that can be checked, with the scopes to check it in.

        A resource of main is checked in all environments, and only if all of them are known.
        """
        shared: dict[str, tuple[Resource, list[FleetScope]]] = {}
        for scope in self.scopes:
            for resource in resources(scope.fleet):
                if scope.is_own(resource):
                    yield resource, (scope,)
                else:
                    shared.setdefault(resource.name, (resource, []))[1].append(scope)
        if self.is_complete:
            for resource, scopes in shared.values():
                yield resource, tuple(scopes)
