"""Find main and the environments' branches among the given branches."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.fleet.named_branches import has_kind
from kalypso_actions.fleet.parsing import resources_of
from kalypso_actions.fleet.workloads import registered_problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import (
    DELIVERY,
    MAIN_BASE_REPO,
    DeliveryRules,
    Environment,
    RepositoryPath,
)
from kalypso_actions.model.placements import PlacementState
from kalypso_actions.planning.fleet_checks.repositories import (
    KnownRepositories,
    base_documents,
    foreign_base_repo,
    missing_base_folder,
    missing_repositories,
    repo_of,
    unpinned_base_repo,
)
from kalypso_actions.planning.fleet_checks.scope import NO_BASE, NO_BRANCH, FleetScope, FleetView
from kalypso_actions.planning.registrations import faulty_heads, registration_reading


@dataclass(frozen=True, slots=True)
class RegisteredReading:
    """The documents of a registered repository; None if they were not read.

    `fault` tells why, if reading the repository failed.
    """

    reading: Reading | None
    fault: Problem | None = None


NOT_READ: Final = RegisteredReading(None)

Registered = Mapping[RepositoryPath, RegisteredReading]


@dataclass(frozen=True, slots=True)
class ControlPlaneBranches:
    """The branches of a control plane among the given branches.

    `own` are the environments' branches by the name of the environment; `undeclared` are the
    branches of environments that main does not declare.
    """

    main: Reading | None
    environments: Mapping[str, Environment]
    own: Mapping[str, Reading]
    undeclared: tuple[Reading, ...]

    @classmethod
    def among(cls, readings: Sequence[Reading]) -> ControlPlaneBranches:
        """Find the branches. If several branches may be main, none counts as main."""
        main = _main(readings)
        environments = _environments(main) if main else {}
        own: dict[str, Reading] = {}
        undeclared: list[Reading] = []
        for reading in readings:
            name = "" if reading is main else _name(reading, environments)
            if name and name not in own:
                own[name] = reading
            elif reading is not main and _is_of_environment(reading):
                undeclared.append(reading)
        return cls(main, environments, own, tuple(undeclared))

    def is_of_environment(self, reading: Reading) -> bool:
        """Whether a branch belongs to an environment."""
        return reading in (*self.own.values(), *self.undeclared)

    def view(
        self,
        registered: Registered,
        diagnostics: Diagnostics,
        delivery: DeliveryRules = DELIVERY,
        now: datetime | None = None,
    ) -> FleetView:
        """Return the fleets that can be checked, with the Workloads of registered repositories.

        A fault in a registered repository is a problem, because the fleet lacks its application.
        """
        if self.main is None:
            return FleetView(())
        scopes = [
            scope
            for name, own in self.own.items()
            if (scope := _scope(name, own, self.main, registered, delivery, diagnostics, now))
        ]
        diagnostics.notes += _unread(scopes, registered)
        is_complete = bool(scopes) and len(scopes) == len(self.environments)
        # Why an environment that was read has no scope is told by a problem, but for this.
        unread = {
            name: NO_BRANCH if own is None else NO_BASE
            for name in self.environments
            if (own := self.own.get(name)) is None or {*_names(own, "BaseRepo")} > {MAIN_BASE_REPO}
        }
        return FleetView(tuple(scopes), self.environments, is_complete, unread=unread)


def _main(readings: Sequence[Reading]) -> Reading | None:
    """Return the only branch with Environments, or else the only one that may be main."""
    candidates = [reading for reading in readings if _may_be_main(reading)]
    declaring = [reading for reading in candidates if has_kind(reading, "Environment")]
    # A GitOpsRepo or BaseRepo on main is a mistake, which must not hide main.
    misplaced = [reading for reading in readings if _declares_others(reading)]
    groups = (declaring, candidates or misplaced)
    return next((group[0] for group in groups if len(group) == 1), None)


def _declares_others(reading: Reading) -> bool:
    """Whether a branch declares Environments but belongs to none of them."""
    branches = {environment.control_plane.branch for environment in _environments(reading).values()}
    return bool(branches) and reading.revision.branch not in {"", *branches}


def _may_be_main(reading: Reading) -> bool:
    kinds = {document.kind for document in reading.documents}
    return bool(kinds - {"Workload"}) and not _is_of_environment(reading)


def _is_of_environment(reading: Reading) -> bool:
    return has_kind(reading, "BaseRepo") or has_kind(reading, "GitOpsRepo")


def _environments(main: Reading) -> dict[str, Environment]:
    return {item.name: item for item in resources_of(Environment, main.documents)}


def _name(reading: Reading, environments: Mapping[str, Environment]) -> str:
    """Return the name of the environment of a branch or folder; "" if it is unknown.

    The environment of a folder has the name of the folder or of its GitOpsRepo, or a branch of that
    name.
    """
    revision = reading.revision
    for name, environment in environments.items():
        place = environment.control_plane
        paths = posixpath.normpath(place.path), posixpath.normpath(revision.path)
        if revision.branch and revision.branch == place.branch and paths[0] == paths[1]:
            return name
    if revision.branch:
        return ""
    names = [posixpath.basename(revision.repository.rstrip("/")), *_names(reading, "GitOpsRepo")]
    for name, environment in environments.items():
        if {name, environment.control_plane.branch} & {*names}:
            return name
    return ""


def _scope(
    name: str,
    own: Reading,
    main: Reading,
    registered: Registered,
    delivery: DeliveryRules,
    diagnostics: Diagnostics,
    now: datetime | None,
) -> FleetScope | None:
    """Return the scope of an environment, and add what is wrong with registered repositories.

    None if a base repository is not given, or documents have faults: other documents may refer to
    the missing ones.
    """
    if {*_names(own, "BaseRepo")} - {MAIN_BASE_REPO} or own.problems or main.problems:
        return None
    of_base = base_documents(own, main)
    if not of_base:
        return None
    base = Branch(f"{name}-{MAIN_BASE_REPO}", of_base)
    fleet, faults_of_documents = assemble(name, Branch(name, own.documents), [base])
    if faults_of_documents.problems:
        return None
    fleet = dataclasses.replace(fleet, placement=PlacementState(own.placements))
    heads = [
        registration_reading(registration, read.reading, name, delivery)
        for registration in fleet.registrations
        if (read := registered.get(registration.source, NOT_READ)).reading
    ]
    # The merged tree, which is not read here, decides which registration owns a name.
    faulty = faulty_heads(heads, name, fleet.targets, None)
    heads = [faulty.get(head.registration.name, head) for head in heads]
    for head in heads:
        _add(diagnostics.problems, head.problems)
        _add(
            diagnostics.warnings,
            (
                item
                if item.where == head.registration.where
                else registered_problem(head.registration, item)
                for item in head.warnings
            ),
        )
    with_targets = {
        head.registration.name for head in heads if any(w.targets for w in head.workloads)
    }
    return FleetScope.of(
        fleet,
        own,
        [workload for head in heads for workload in head.workloads],
        [item for item in fleet.registrations if item.name not in with_targets],
        {
            item.name: fault
            for item in fleet.registrations
            if (fault := registered.get(item.source, NOT_READ).fault)
        },
        now=now,
    )


def _add(known: list[Problem], problems: Iterable[Problem]) -> None:
    """Add the problems that another environment has not reported yet."""
    known += (item for item in problems if item not in known)


def _unread(scopes: Iterable[FleetScope], registered: Registered) -> Iterator[Problem]:
    """Yield one note about the registered repositories that were not read."""
    unread = {
        registration.name: registration
        for scope in scopes
        for registration in scope.unread
        if registered.get(registration.source, NOT_READ) == NOT_READ
    }
    for registration in [*unread.values()][:1]:
        yield Problem(
            f"{counted(len(unread), 'registered application')} not read: what selects "
            f"{'it' if len(unread) == 1 else 'them'} is not checked",
            registration.source_where,
            f"give --source {registration.source.repo}=PATH, or access by git",
            "registration-unread",
        )


def check_branches(branches: ControlPlaneBranches, main_commit: str = "") -> Iterator[Problem]:
    """Report missing documents of the environments' branches, and branches without an Environment.

    `main_commit` is the head of main, if it is known.
    """
    known = KnownRepositories.of(branches.own.values(), main_commit)
    for name, own in branches.own.items():
        yield from missing_repositories(name, own, branches.environments[name], known)
    main = branches.main
    if main:
        for own in branches.own.values():
            yield from missing_base_folder(own, main)
    declared = [doc for doc in main.documents if doc.kind == "Environment"] if main else []
    # A faulty Environment, which has a problem of its own, may belong to a branch.
    if main and len(declared) == len(branches.environments):
        for reading in branches.undeclared:
            misplaced = (item.control_plane.branch for item in _environments(reading).values())
            # The Environment on this branch itself has its own warning.
            if reading.revision.branch and reading.revision.branch not in misplaced:
                yield _undeclared(reading, branches.environments)


def foreign_bases(branches: ControlPlaneBranches) -> Iterator[Problem]:
    """Report BaseRepos named main that do not name the main of their control plane."""
    for name, own in branches.own.items():
        if branches.main and own.revision.branch:
            place = branches.environments[name].control_plane
            main = RepositoryPath(place.repo, branches.main.revision.branch, ".")
            yield from foreign_base_repo(own, main)


def unpinned_branches(branches: ControlPlaneBranches) -> Iterator[Problem]:
    """Report the environments' branches without a commit of main."""
    for name, own in branches.own.items():
        yield from unpinned_base_repo(name, own)


def _undeclared(reading: Reading, environments: Iterable[str]) -> Problem:
    revision = reading.revision
    name = revision.branch
    bases = [document for document in reading.documents if document.kind == "BaseRepo"]
    repo = next(filter(None, map(repo_of, bases)), "URL OF THIS CONTROL PLANE")
    content = (
        f"metadata:\n  name: {name}\nspec:\n  controlPlane:\n"
        f"    repo: {repo}\n    branch: {name}\n    path: .\n"
    )
    known = abbreviated(sorted(environments), MAX_LISTED) or "none"
    return Problem(
        f"no Environment of main names the branch {name!r}; Environments: {known}",
        _place(reading),
        f"add .environments/{name}.yaml to main:\napiVersion: scheduler.kalypso.io/v1alpha1\n"
        f"kind: Environment\n{content}",
        "environment-undeclared",
    )


def _place(reading: Reading) -> Location:
    return Location(reading.revision.repository, branch=reading.revision.branch)


def _names(reading: Reading, kind: str) -> list[str]:
    return [document.name for document in reading.documents if document.kind == kind]
