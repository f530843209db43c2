"""Find main and the environments' branches among the given branches."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.fleet.name_conflicts import Owners, workload_conflicts
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.fleet.workloads import read_workloads, registered_problem, without_workloads
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import (
    DELIVERY,
    MAIN_BASE_REPO,
    DeliveryRules,
    Environment,
    Fleet,
    RepositoryPath,
    Workload,
    WorkloadRegistration,
)
from kalypso_actions.model.placements import PlacementState
from kalypso_actions.planning.fleet_checks.repositories import (
    KnownRepositories,
    base_documents,
    foreign_base_repo,
    has_kind,
    missing_base_folder,
    missing_repositories,
    repo_of,
    unpinned_base_repo,
)
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView


@dataclass(frozen=True, slots=True)
class RegisteredReading:
    """The documents of a registered repository; None if they were not read.

    `fault` tells why, if reading the repository failed.
    """

    reading: Reading | None
    fault: str = ""


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
    ) -> FleetView:
        """Return the fleets that can be checked, with the Workloads of registered repositories.

        A fault in a registered repository is a problem, because the fleet lacks its application.
        """
        if self.main is None:
            return FleetView(())
        scopes = [
            scope
            for name, own in self.own.items()
            if (
                scope := _scope(name, own, self.main, _Delivered(registered, delivery, diagnostics))
            )
        ]
        diagnostics.notes += _unread(scopes, registered)
        is_complete = bool(scopes) and len(scopes) == len(self.environments)
        return FleetView(tuple(scopes), self.environments, is_complete)


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
    parsed = (
        parse_document(document, Diagnostics())
        for document in main.documents
        if document.kind == "Environment"
    )
    return {item.name: item for item in parsed if isinstance(item, Environment)}


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


@dataclass(frozen=True, slots=True)
class _Delivered:
    """The Workloads of registered repositories, and what is wrong with them."""

    registered: Registered
    delivery: DeliveryRules
    diagnostics: Diagnostics

    def workloads(
        self, registration: WorkloadRegistration, environment: str
    ) -> tuple[Workload, ...] | None:
        """Return the Workloads of a registration; None if they were not read, or have faults."""
        reading = self.of(registration).reading
        if not reading:
            return None
        workloads, findings = read_workloads(
            registration, environment, reading.documents, self.delivery
        )
        faults = [*reading.problems, *findings.problems]
        warnings = [*reading.warnings, *findings.warnings]
        _add(self.diagnostics.problems, (registered_problem(registration, item) for item in faults))
        _add(
            self.diagnostics.warnings,
            (
                *(registered_problem(registration, item) for item in warnings),
                *(() if workloads or faults else (without_workloads(registration),)),
            ),
        )
        return None if faults else workloads

    def conflicting(
        self, fleet: Fleet, read: Mapping[str, tuple[Workload, ...] | None]
    ) -> Collection[str]:
        """Return the registrations that deliver a name of another owner; report each name.

        The merged tree, which is not read here, decides which registration owns the name.
        """
        conflicts = workload_conflicts(
            {name: workloads for name, workloads in read.items() if workloads},
            fleet.environment,
            fleet.targets,
            Owners(),
        )
        registrations = {item.name: item for item in fleet.registrations}
        for name, problems in conflicts.items():
            faults = (registered_problem(registrations[name], problem) for problem in problems)
            _add(self.diagnostics.problems, faults)
        return conflicts.keys()

    def of(self, registration: WorkloadRegistration) -> RegisteredReading:
        """Return the documents of a registration."""
        return self.registered.get(registration.source, RegisteredReading(None))


def _add(known: list[Problem], problems: Iterable[Problem]) -> None:
    """Add the problems that another environment has not reported yet."""
    known += (item for item in problems if item not in known)


def _scope(name: str, own: Reading, main: Reading, delivered: _Delivered) -> FleetScope | None:
    """Return the scope of an environment.

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
    workloads: list[Workload] = []
    unread: list[WorkloadRegistration] = []
    missing: dict[str, str] = {}
    read = {item.name: delivered.workloads(item, name) for item in fleet.registrations}
    conflicting = delivered.conflicting(fleet, read)
    for registration in fleet.registrations:
        if fault := delivered.of(registration).fault:
            missing[registration.name] = fault
        of_registration = None if registration.name in conflicting else read[registration.name]
        workloads += of_registration or ()
        if not any(workload.targets for workload in of_registration or ()):
            unread.append(registration)
    return FleetScope.of(fleet, own.documents, workloads, unread, missing)


def _unread(scopes: Iterable[FleetScope], registered: Registered) -> Iterator[Problem]:
    """Yield one note about the registered repositories that were not read."""
    not_read = RegisteredReading(None)
    unread = {
        registration.name: registration
        for scope in scopes
        for registration in scope.unread
        if registered.get(registration.source, not_read) == not_read
    }
    for registration in [*unread.values()][:1]:
        yield Problem(
            f"{counted(len(unread), 'registered application')} not read: what selects "
            f"{'it' if len(unread) == 1 else 'them'} is not checked",
            registration.where,
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
            if reading.revision.branch:
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
