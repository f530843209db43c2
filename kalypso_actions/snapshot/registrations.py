"""What the registered repositories deliver, and what stands in for one that cannot be used."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kalypso_actions import fleet
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops import PreviousSources
from kalypso_actions.model.kinds import DeploymentTarget, RepositoryPath, WorkloadRegistration
from kalypso_actions.model.tree import RegistrationReading
from kalypso_actions.model.urls import repository_key
from kalypso_actions.snapshot.reader import Reader, in_parallel


def read_registrations(
    registrations: Sequence[WorkloadRegistration],
    environment: str,
    reader: Reader,
    previous: PreviousSources | None,
    own: Sequence[DeploymentTarget],
) -> tuple[RegistrationReading, ...]:
    """Every registration at its branch's head, or as the last tree had it.

    A registration is unusable when its repository cannot be read, holds anything that is not a
    valid Workload, or delivers a Workload or target that another one or the control plane (`own`)
    has too. It must not stop a fleet: its commit in `previous` stands in for its head, and where
    that is of no use either, its targets stay as they are.
    """
    heads = in_parallel(lambda item: _read(item, environment, reader), registrations)
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
    """At the branch's head or at `commit`; whatever is wrong is among the problems."""
    source = registration.source
    try:
        reading = reader.documents(source, commit)
    except KalypsoError as error:
        problems = tuple(_of(registration, problem) for problem in error.problems)
        return RegistrationReading(registration, "kept", None, (), problems, is_readable=False)
    workloads, findings = fleet.read_workloads(registration, environment, reading.documents)
    problems = (*reading.problems, *findings.problems)
    return RegistrationReading(
        registration=registration,
        state="kept" if problems else "head",
        revision=None if problems else reading.revision,
        workloads=() if problems else workloads,
        problems=tuple(_of(registration, problem) for problem in problems),
        warnings=(*reading.warnings, *findings.warnings),
    )


def _usable(
    head: RegistrationReading,
    conflicts: dict[str, list[Problem]],
    environment: str,
    reader: Reader,
    previous: PreviousSources | None,
) -> RegistrationReading:
    registration = head.registration
    conflict = tuple(_of(registration, problem) for problem in conflicts.get(registration.name, ()))
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


def _of(registration: WorkloadRegistration, problem: Problem) -> Problem:
    """The problem as one of this registration: without a file of its own it stands there."""
    where, message = problem.where, problem.message
    if where is None or not where.path:
        place = where.repository if where else registration.source.repo
        where, message = registration.where, f"{place}: {message}"
    return Problem(f"registration {registration.name!r}: {message}", where, problem.advice)
