"""Read the registered repositories, or the last good commits of unusable ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kalypso_actions import fleet
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.fleet import registered_problem
from kalypso_actions.gitops import PreviousSources
from kalypso_actions.model.kinds import DeploymentTarget, RepositoryPath, WorkloadRegistration
from kalypso_actions.model.tree import RegistrationReading
from kalypso_actions.model.urls import repository_key
from kalypso_actions.snapshot.document_reader import Reader, in_parallel
from kalypso_actions.sources.limits import REGISTRATION


def read_registrations(
    registrations: Sequence[WorkloadRegistration],
    environment: str,
    reader: Reader,
    previous: PreviousSources | None,
    own: Sequence[DeploymentTarget],
) -> tuple[RegistrationReading, ...]:
    """Read every registration at its branch's head, or at its last good commit.

    A registration is unusable if its repository cannot be read, has anything except valid
    Workloads, or delivers a Workload or target that another registration or the control plane
    (`own`) has too. It must not stop a fleet: its commit in `previous` replaces its head. If that
    commit is unusable too, the targets stay as they are.
    """
    heads = in_parallel(
        lambda item: _read(item, environment, reader), registrations, reader.fetched
    )
    conflicts = fleet.workload_conflicts(
        {reading.registration.name: reading.workloads for reading in heads if not reading.problems},
        environment,
        own,
    )
    return tuple(
        in_parallel(
            lambda reading: _usable(reading, conflicts, environment, reader, previous), heads
        )
    )


def _read(
    registration: WorkloadRegistration,
    environment: str,
    reader: Reader,
    commit: str | None = None,
) -> RegistrationReading:
    """Read a registration at the branch's head or at `commit`."""
    source = registration.source
    try:
        reading = reader.documents(source, commit, REGISTRATION)
    except KalypsoError as error:
        problems = tuple(registered_problem(registration, problem) for problem in error.problems)
        return RegistrationReading(registration, "kept", None, (), problems, is_readable=False)
    workloads, findings = fleet.read_workloads(registration, environment, reading.documents)
    problems = (*reading.problems, *findings.problems)
    return RegistrationReading(
        registration=registration,
        state="kept" if problems else "head",
        revision=None if problems else reading.revision,
        workloads=() if problems else workloads,
        problems=tuple(registered_problem(registration, problem) for problem in problems),
        warnings=(*reading.warnings, *findings.warnings),
        documents=reading.documents,
    )


def _usable(
    head: RegistrationReading,
    conflicts: dict[str, list[Problem]],
    environment: str,
    reader: Reader,
    previous: PreviousSources | None,
) -> RegistrationReading:
    registration = head.registration
    conflict = tuple(
        registered_problem(registration, problem)
        for problem in conflicts.get(registration.name, ())
    )
    if not (head.problems or conflict):
        return head
    unusable = dataclasses.replace(
        head, state="kept", revision=None, workloads=(), problems=head.problems + conflict
    )
    known = previous.registrations.get(registration.name) if previous else None
    if known is None or known.commit is None:
        return unusable
    place = RepositoryPath(known.repository, known.branch, known.path)
    if repository_key(known.repository) != repository_key(registration.source.repo):
        return unusable  # the registration names another repository now
    moved = dataclasses.replace(registration, source=place)
    last_good = _read(moved, environment, reader, known.commit)
    if last_good.problems:
        return unusable
    return dataclasses.replace(
        unusable,
        state="last-good",
        revision=last_good.revision,
        workloads=last_good.workloads,
    )
