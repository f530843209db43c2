"""Read everything that one run needs, in the order of these functions.

control_plane = read_control_plane(environment, reader)
snapshot = read_snapshot(control_plane, reader, base_trees=trees)
snapshot, plan = plan_registrations(snapshot, options, reader, progress)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from kalypso_actions.clients.git.errors import is_unreachable
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.shared.reading.control_plane import ControlPlaneReading
from kalypso_actions.commands.shared.reading.document_reader import Reader, in_parallel
from kalypso_actions.errors import Finding, KalypsoError
from kalypso_actions.fleet.parsing import resources_of
from kalypso_actions.gitops.provenance import PreviousSources, previous_sources
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import (
    DELIVERY,
    MAIN_BASE_REPO,
    DeliveryRules,
    DeploymentTarget,
    RepositoryPath,
    WorkloadRegistration,
)
from kalypso_actions.model.processes import Progress, WriteBlobs
from kalypso_actions.model.tree import BaseTree, RegistrationReading, Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning import registrations as decisions
from kalypso_actions.planning.fleet_checks.branches import Registered, RegisteredReading
from kalypso_actions.planning.fleet_checks.repositories import (
    KnownRepositories,
    foreign_base_repo,
    missing_repositories,
)
from kalypso_actions.planning.plan import Plan, PlanOptions, make_plan
from kalypso_actions.scheduling.registry import scheduler_of
from kalypso_actions.sources.limits import registration_limits


def read_snapshot(
    control_plane: ControlPlaneReading,
    reader: Reader,
    options: PlanOptions = PlanOptions(),  # noqa: B008 - frozen
    *,
    base_trees: Sequence[BaseTree] = (),
    known: KnownRepositories | None = None,
) -> Snapshot:
    """Read the registered repositories of a control plane.

    `base_trees` are the trees of the environment's GitOpsRepos, which name the last good commits;
    `options` say what registrations may deliver, and `known` serves the advice on missing
    documents. The snapshot has the problems of unreadable registrations.
    """
    environment, own = control_plane.environment, control_plane.environment.own
    lacking = [*missing_repositories(environment.name, own, environment.declared, known)]
    has_base = any(base.name == MAIN_BASE_REPO for base in environment.base_repos)
    if environment.declared and environment.main and has_base:
        # The caller names the control plane; the URL in its Environment may be another spelling.
        urls = environment.control_plane, environment.declared.control_plane.repo
        keys = {repository_key(url): url for url in reversed(urls)}
        url = keys.get(repository_key(environment.main_url), urls[1])
        lacking += foreign_base_repo(own, RepositoryPath(url, environment.main, "."))
    previous = previous_sources(base_trees, environment.name, control_plane.promoted_commit)
    registrations = read_registrations(
        control_plane.fleet.registrations,
        control_plane.fleet.targets,
        RegistrationSources(environment.name, reader, options, previous),
    )
    everything = (own, *(reading for _, reading in control_plane.bases))
    problems = chain.from_iterable(reading.problems for reading in everything)
    warnings = chain.from_iterable(reading.warnings for reading in everything)
    return Snapshot(
        environment=environment.name,
        own=own,
        bases=control_plane.bases,
        fleet=control_plane.fleet,
        registrations=registrations,
        base_trees=tuple(base_trees),
        unpromoted_templates=_unpromoted_templates(control_plane, reader),
        problems=(*problems, *control_plane.findings.problems),
        warnings=(*warnings, *control_plane.findings.warnings),
        lacking=tuple(lacking),
        declared=environment.declared,
        now=reader.now,
    )


def _unpromoted_templates(control_plane: ControlPlaneReading, reader: Reader) -> frozenset[str]:
    """Return the Templates at the head of main, if the environment's commit lacks one."""
    known = {template.name for template in control_plane.fleet.templates}
    used = {
        name
        for cluster_type in control_plane.fleet.cluster_types
        for name in (cluster_type.reconciler, cluster_type.namespace_service)
    }
    main = next((base for base, _ in control_plane.bases if base.name == MAIN_BASE_REPO), None)
    if used <= known or main is None or main.commit is None:
        return frozenset()
    try:
        head = reader.documents(main.source)
    except KalypsoError:
        return frozenset()  # the environment does not need the head of main
    return frozenset(
        document.name for document in head.documents if document.kind == "Template"
    ).difference(known)


@dataclass(frozen=True, slots=True)
class RegistrationSources:
    """The reader of registrations for an environment, and the sources of its last tree.

    `previous` has the commits that the last tree was made from, and the owners of its names.
    """

    environment: str
    reader: Reader
    options: PlanOptions
    previous: PreviousSources | None = None

    def read(
        self, registration: WorkloadRegistration, commit: str | None = None
    ) -> RegistrationReading:
        """Read a registration at the branch's head or at `commit`."""
        delivery = self.options.delivery
        limits = registration_limits(delivery.max_targets)
        last_good = decisions.last_good_place(registration, self.previous)
        try:
            reading = self.reader.documents(registration.source, commit, limits)
        except KalypsoError as error:
            return decisions.unreadable(registration, error.problems, last_good)
        return decisions.registration_reading(
            registration, reading, self.environment, delivery, last_good
        )

    def last_good(self, heads: Mapping[str, RegistrationReading]) -> dict[str, RegistrationReading]:
        """Return each unusable head with its last good commit, if that can be read and used."""

        def read(head: RegistrationReading) -> RegistrationReading:
            if head.last_good is None:
                return head
            source, commit = head.last_good
            found = self.read(dataclasses.replace(head.registration, source=source), commit)
            if found.problems:
                return head
            return dataclasses.replace(
                head, state="last-good", revision=found.revision, workloads=found.workloads
            )

        return dict(zip(heads, in_parallel(read, heads.values()), strict=True))


def read_registrations(
    registrations: Sequence[WorkloadRegistration],
    own: Sequence[DeploymentTarget],
    sources: RegistrationSources,
) -> tuple[RegistrationReading, ...]:
    """Read every registration at its branch's head, or at its last good commit.

    `own` are the targets in the control plane. See `planning.registrations`.
    """
    heads = in_parallel(sources.read, registrations, sources.reader.fetched)
    environment, previous = sources.environment, sources.previous
    usable = sources.last_good(decisions.faulty_heads(heads, environment, own, previous))
    readings = [usable.get(head.registration.name, head) for head in heads]
    if sources.options.namespace_scheme == "legacy":
        conflicting = decisions.namespace_conflicts(readings, environment, own, previous)
        usable = sources.last_good(conflicting)
    return tuple(usable.get(reading.registration.name, reading) for reading in readings)


def plan_registrations(
    snapshot: Snapshot,
    options: PlanOptions,
    reader: Reader,
    progress: Progress,
    write_blobs: WriteBlobs | None = None,
) -> tuple[Snapshot, Plan]:
    """Plan a run; return the snapshot that the plan uses, and the plan.

    If heads of registrations fail, this reads their last good commits, and plans again: see
    `planning.registrations`. If the fleet is large, `write_blobs` writes the files while others are
    rendered, and the plan has their ids.
    """
    scheduler = scheduler_of(snapshot.declared, options.scheduler)
    processes = WorkerProcesses(write_blobs=write_blobs)

    def make(with_readings: Snapshot) -> Plan:
        return make_plan(with_readings, options, scheduler, progress, processes)

    plan = make(snapshot)
    if snapshot.problems:
        return snapshot, plan
    sources = RegistrationSources(snapshot.environment, reader, options)
    last_good = sources.last_good(decisions.failing_heads(snapshot, plan))
    return decisions.plan_again(snapshot, plan, last_good, options, make)


def read_registered(
    readings: Iterable[Reading],
    reader: Reader,
    *,
    allow_network: bool,
    delivery: DeliveryRules = DELIVERY,
) -> Registered:
    """Return the documents of each registered folder of given branches, by its place.

    Without `allow_network`, read only repositories on this machine. Repositories of an unreachable
    server count as not read, because the machine may be offline.
    """
    sources = list(dict.fromkeys(_registered_places(readings)))
    limits = registration_limits(delivery.max_targets)

    def read(source: RepositoryPath) -> RegisteredReading:
        if not (allow_network or reader.repositories.is_at_hand(source.repo, source.branch)):
            return RegisteredReading(None)
        try:
            return RegisteredReading(reader.documents(source, limits=limits))
        except KalypsoError as error:
            if is_unreachable(error):
                return RegisteredReading(None)
            problem = error.problem
            message = f"{source.repo}: {problem.message}"
            return RegisteredReading(None, dataclasses.replace(problem, message=message))

    return dict(zip(sources, in_parallel(read, sources), strict=True))


def _registered_places(readings: Iterable[Reading]) -> Iterator[RepositoryPath]:
    for reading in readings:
        for registration in resources_of(WorkloadRegistration, reading.documents):
            yield registration.source


def main_position(snapshot: Snapshot, reader: Reader) -> BranchPosition | None:
    """Return the position of the commit of main that a snapshot uses.

    None if the environment has no BaseRepo named main, or reads a folder without commits.
    """
    for base, reading in snapshot.bases:
        if base.name == MAIN_BASE_REPO and reading.revision.commit:
            source = base.source
            return reader.repositories.position(source.repo, source.branch, reading.revision.commit)
    return None


def with_changes_of_main(
    findings: Iterable[Finding],
    snapshot: Snapshot,
    position: BranchPosition | None,
    reader: Reader,
) -> tuple[Finding, ...]:
    """Advise to promote the commit of main that has changed the file of an error or warning.

    Without this advice, people correct main, but render again with the environment's old commit.
    """
    findings = tuple(findings)
    base = next((base for base, _ in snapshot.bases if base.name == MAIN_BASE_REPO), None)
    if base is None or position is None or position.fault or not position.ahead:
        return findings
    commit = position.commit
    shown = (item for item in findings if item.level != "note" and not item.reason)
    places = {item.where for item in shown if item.where and item.where.commit == commit}
    if not places:
        return findings
    try:
        changed = _changed_paths(base.source, position.commit, reader)
    except KalypsoError:
        return findings  # the environment does not need the head of main
    branch = position.branch
    advice = f"{branch} has changed this file since: promote it, or try --base-commit {branch}"
    return tuple(
        dataclasses.replace(item, advice="\n".join(filter(None, (item.advice, advice))))
        if item.where and item.where.commit == commit and item.where.path in changed
        else item
        for item in findings
    )


def _changed_paths(source: RepositoryPath, commit: str, reader: Reader) -> Set[str]:
    """Return the files of a commit that differ at the head of its branch, or are missing there."""
    repositories = reader.repositories
    at_commit = repositories.open(source.repo, branch=source.branch, commit=commit).entries()
    at_head = repositories.open(source.repo, branch=source.branch).entries()
    return {path for path, entry in at_commit.items() if at_head.get(path) != entry}
