"""Read the registered repositories, or the last good commits of unusable ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from kalypso_actions import fleet
from kalypso_actions.commands.shared.reading.document_reader import Reader, in_parallel
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.fleet import registered_problem
from kalypso_actions.gitops import PreviousSources
from kalypso_actions.model.delivery import DELIVERY, DeliveryRules
from kalypso_actions.model.kinds import DeploymentTarget, RepositoryPath, WorkloadRegistration
from kalypso_actions.model.tree import RegistrationReading
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.fleet_checks import schema_faults
from kalypso_actions.sources.limits import REGISTRATION


@dataclass(frozen=True, slots=True)
class RegistrationReader:
    """Reads registrations for an environment.

    `previous` has the commits that the last tree was made from, and the owners of its names.
    """

    environment: str
    reader: Reader
    previous: PreviousSources | None
    delivery: DeliveryRules = DELIVERY

    def read(
        self, registration: WorkloadRegistration, commit: str | None = None
    ) -> RegistrationReading:
        """Read a registration at the branch's head or at `commit`."""
        try:
            reading = self.reader.documents(registration.source, commit, REGISTRATION)
        except KalypsoError as error:
            problems = tuple(
                registered_problem(registration, problem) for problem in error.problems
            )
            return RegistrationReading(registration, "kept", None, (), problems, is_readable=False)
        workloads, findings = fleet.read_workloads(
            registration, self.environment, reading.documents, self.delivery
        )
        targets = chain.from_iterable(workload.targets for workload in workloads)
        problems = (*reading.problems, *findings.problems, *schema_faults(targets))
        return RegistrationReading(
            registration=registration,
            state="kept" if problems else "head",
            revision=None if problems else reading.revision,
            workloads=() if problems else workloads,
            problems=tuple(registered_problem(registration, problem) for problem in problems),
            warnings=(
                *reading.warnings,
                *findings.warnings,
                *(() if workloads or problems else (fleet.without_workloads(registration),)),
            ),
            documents=reading.documents,
            unusable=workloads if problems else (),
        )

    def without_head(
        self, head: RegistrationReading, problems: Iterable[Problem] = ()
    ) -> RegistrationReading:
        """Return the last good commit of a registration whose head is unusable.

        `problems` are further reasons. Without a usable commit, its targets stay as they are.
        """
        registration = head.registration
        unusable = dataclasses.replace(
            head,
            state="kept",
            revision=None,
            workloads=(),
            unusable=head.workloads or head.unusable,
            problems=(
                *head.problems,
                *(registered_problem(registration, problem) for problem in problems),
            ),
        )
        known = self.previous.registrations.get(registration.name) if self.previous else None
        if known is None or known.commit is None:
            return unusable
        place = RepositoryPath(known.repository, known.branch, known.path)
        if repository_key(known.repository) != repository_key(registration.source.repo):
            return unusable  # the registration names another repository now
        moved = dataclasses.replace(registration, source=place)
        last_good = self.read(moved, known.commit)
        if last_good.problems:
            return unusable
        return dataclasses.replace(
            unusable,
            state="last-good",
            revision=last_good.revision,
            workloads=last_good.workloads,
        )


def read_registrations(
    registrations: Sequence[WorkloadRegistration],
    own: Sequence[DeploymentTarget],
    reader: RegistrationReader,
) -> tuple[RegistrationReading, ...]:
    """Read every registration at its branch's head, or at its last good commit.

    A registration is unusable if its repository cannot be read, contains anything except valid
    Workloads, or delivers a Workload or target that the control plane (`own`) or another
    registration delivers too, unless it owns the name in the last tree. An unusable registration
    must not stop a fleet: its last good commit replaces its head. If that commit is unusable too,
    the targets stay as they are.
    """
    heads = in_parallel(reader.read, registrations, reader.reader.fetched)
    previous = reader.previous or PreviousSources()
    conflicts = fleet.workload_conflicts(
        {reading.registration.name: reading.workloads for reading in heads if not reading.problems},
        reader.environment,
        own,
        fleet.Owners(
            previous.workloads,
            previous.targets,
            {registration.name: registration.where for registration in registrations},
        ),
    )

    def usable(head: RegistrationReading) -> RegistrationReading:
        conflict = conflicts.get(head.registration.name, ())
        return reader.without_head(head, conflict) if head.problems or conflict else head

    return tuple(in_parallel(usable, heads))
