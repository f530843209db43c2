"""The subjects of the checks: the fleets of one or all environments, as far as they were read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, Protocol, TypeVar

from kalypso_actions.errors import Problem
from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.gitops.provenance import previous_sources
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    ClusterType,
    DeploymentTarget,
    Environment,
    Fleet,
    SchedulingPolicy,
    Workload,
    WorkloadRegistration,
)
from kalypso_actions.model.promotion_policy import PolicyReading
from kalypso_actions.model.tree import RegistrationReading, Snapshot
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
    Workloads are unknown; `missing` has, by name, why some of them have never been in the fleet.
    `policy` is its PromotionPolicy; holds have ended by `now`, if that is known.
    """

    fleet: Fleet
    workloads: tuple[Workload, ...]
    own: Set[Key]
    unread: tuple[WorkloadRegistration, ...] = ()
    missing: Mapping[str, Problem] = field(default_factory=dict)
    policy: PolicyReading = field(default_factory=PolicyReading)
    now: datetime | None = None

    @classmethod
    def of(
        cls,
        fleet: Fleet,
        own: Reading,
        workloads: Iterable[Workload],
        unread: Iterable[WorkloadRegistration] = (),
        missing: Mapping[str, Problem] | None = None,
        *,
        now: datetime | None = None,
    ) -> FleetScope:
        """Add Workloads to a fleet without any; `own` is the environment's own branch."""
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
            frozenset((document.kind, document.name) for document in own.documents),
            tuple(unread),
            missing or {},
            own.policy,
            now,
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
    tells whether each Environment has a scope; `faults` tell why some have none, and `unread` are
    the names of those of which documents were not read, with the reason.
    """

    scopes: tuple[FleetScope, ...]
    environments: Mapping[str, Environment] | None = None
    is_complete: bool = False
    faults: tuple[Problem, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)

    def unjudged(self) -> Iterator[Problem]:
        """Yield a note on the environments of which documents were not read, for each reason."""
        environments = self.environments or {}
        for reason in dict.fromkeys(self.unread.values()):
            names = [name for name, each in self.unread.items() if each == reason]
            yield Problem(
                f"what main has for {' and '.join(map(repr, names))} is not judged: {reason}",
                environments[names[0]].where,
                "name all branches, or the repository, so that the branches are found",
                "environment-unjudged",
            )

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


def fleet_view(
    fleet: Fleet,
    snapshot: Snapshot,
    environments: Mapping[str, Environment] | None,
    others: Mapping[str, Reading],
) -> FleetView:
    """Return the environment of a planned `fleet` with the others of its control plane.

    `environments` are the Environment objects, None if they were not read, and `others` the
    branches of other environments, as far as they could be read.
    """
    names = [name for name in environments or () if name != fleet.environment]
    scopes, faults = other_scopes(
        snapshot, {name: others[name] for name in names if name in others}
    )
    scope = scope_of(fleet, snapshot)
    if scope is None or environments is None:
        return FleetView((scope,) if scope else ())
    unread = unread_environments(names, scopes, faults, others)
    return FleetView((scope, *scopes), environments, len(scopes) == len(names), faults, unread)


NO_BASE: Final = "a base repository was not read"
NO_BRANCH: Final = "the branch was not read"


def unread_environments(
    names: Iterable[str],
    scopes: Iterable[FleetScope],
    faults: Iterable[Problem],
    others: Mapping[str, Reading],
) -> dict[str, str]:
    """Return why environments have neither a scope nor a fault; `others` are the branches read."""
    known = {scope.environment for scope in scopes}
    faulty = {item.where.branch for item in faults if item.where}
    return {
        name: NO_BASE if name in others else NO_BRANCH
        for name in names
        if name not in known and not (name in others and others[name].revision.branch in faulty)
    }


def other_scopes(
    snapshot: Snapshot, others: Mapping[str, Reading]
) -> tuple[list[FleetScope], tuple[Problem, ...]]:
    """Return the `others` with the snapshot's commit of main, and why some cannot be judged."""
    known = [_other_scope(name, own, snapshot) for name, own in others.items()]
    scopes = [item for item in known if isinstance(item, FleetScope)]
    return scopes, tuple(item for item in known if isinstance(item, Problem))


def scope_of(fleet: Fleet, snapshot: Snapshot) -> FleetScope | None:
    """Return the documents of the environment of a planned `fleet` that the checks judge.

    None if documents are missing or faulty: others may refer to these documents.
    """
    if snapshot.problems or MAIN_BASE_REPO not in (base.name for base, _ in snapshot.bases):
        return None
    readings = snapshot.registrations
    unread = [item for item in readings if _lacks_targets(item)]
    return FleetScope(
        fleet,
        tuple(workload for item in readings for workload in item.workloads),
        frozenset((document.kind, document.name) for document in snapshot.own.documents),
        tuple(item.registration for item in unread),
        {
            item.registration.name: _cause(item)
            for item in unread
            if not item.is_readable and _is_new(item.registration, snapshot)
        },
        snapshot.own.policy,
        snapshot.now,
    )


def _other_scope(environment: str, own: Reading, snapshot: Snapshot) -> FleetScope | Problem | None:
    """Return another environment of the same control plane, with the snapshot's commit of main.

    Return its first problem if documents are faulty: others may refer to these documents. Return
    None if the snapshot lacks one of its base repositories.
    """
    bases = {base.name: reading for base, reading in snapshot.bases}
    names = [document.name for document in own.documents if document.kind == "BaseRepo"]
    if not bases.keys() >= {*names, MAIN_BASE_REPO}:
        return None
    branches = [
        Branch(f"{environment}-{name}", bases[name].documents)
        for name in dict.fromkeys((MAIN_BASE_REPO, *names))
    ]
    assembled, findings = assemble(environment, Branch(environment, own.documents), branches)
    for problem in (*own.problems, *findings.problems):
        if problem.code == "branch-merged":
            return None  # the environment of the snapshot has the finding, too
        message = f"environment {environment!r} is not judged: {problem.message}"
        return dataclasses.replace(problem, message=message, code="environment-unjudged")
    read = {item.registration.source: item for item in snapshot.registrations}
    known = [read[item.source] for item in assembled.registrations if item.source in read]
    unread = [item for item in assembled.registrations if item.source not in read]
    unread += [item.registration for item in known if _lacks_targets(item)]
    workloads = (workload for item in known for workload in item.workloads)
    return FleetScope.of(assembled, own, workloads, unread, now=snapshot.now)


def _lacks_targets(reading: RegistrationReading) -> bool:
    """Whether the fleet has no targets of a registration, so that the checks report it."""
    return reading.state == "kept" or not any(item.targets for item in reading.workloads)


def _cause(reading: RegistrationReading) -> Problem:
    """Return why a repository cannot be read, without the registration's name."""
    causes = (
        dataclasses.replace(problem, message=problem.message.partition(": ")[2])
        for problem in reading.problems
    )
    return next(causes, Problem(f"{reading.registration.source.repo} cannot be read"))


def _is_new(registration: WorkloadRegistration, snapshot: Snapshot) -> bool:
    """Whether no base tree can contain the targets of a registration yet.

    A tree with files but without `sources.json` may contain them.
    """
    trees = snapshot.base_trees
    previous = previous_sources(trees, snapshot.environment, snapshot.promoted_commit)
    if previous is None:
        return bool(trees) and not any(tree.entries for tree in trees)
    known = previous.registrations.get(registration.name)
    return known is None or known.commit is None
