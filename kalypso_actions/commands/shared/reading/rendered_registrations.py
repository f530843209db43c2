"""Plan with the registrations that render, so that a text of one does not stop the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kalypso_actions import fleet, gitops, rendering
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.shared.reading.document_reader import Reader, in_parallel
from kalypso_actions.commands.shared.reading.registration_faults import is_own_fault
from kalypso_actions.commands.shared.reading.registrations import RegistrationReader
from kalypso_actions.errors import Problem
from kalypso_actions.model.counts import counted
from kalypso_actions.model.processes import Processes, WriteBlobs
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.plan import Plan, PlanOptions, make_plan
from kalypso_actions.scheduling.registry import scheduler_of

Failing = Mapping[str, Sequence[PlannedAssignment]]
Readings = dict[str, RegistrationReading]


def plan_registrations(
    snapshot: Snapshot,
    options: PlanOptions,
    reader: Reader,
    progress: Progress,
    write_blobs: WriteBlobs | None = None,
) -> tuple[Snapshot, Plan]:
    """Plan a run; return the snapshot that the plan uses, and the plan.

    If the fleet is large, `write_blobs` writes the files while others are rendered, and the plan
    has their ids.

    A registration whose assignments fail is at fault if its text fails, or if the same Templates
    and configuration render its last good commit. Without such a commit, it is at fault if they
    render the targets of others or usual texts, or if only its own schemas refuse the
    configuration. The last good commit replaces its head if it renders; otherwise the targets stay
    as they are. All other failures are faults of the control plane, and remain in the plan.
    """
    previous = gitops.previous_sources(
        snapshot.base_trees, snapshot.environment, snapshot.promoted_commit
    )
    registered = RegistrationReader(snapshot.environment, reader, previous, options.delivery)
    if options.namespace_scheme == "legacy":
        snapshot = _with_own_namespaces(snapshot, registered)
    scheduler = scheduler_of(snapshot.declared, options.scheduler)
    processes = WorkerProcesses(write_blobs=write_blobs)
    plan = make_plan(snapshot, options, scheduler, progress, processes)
    if snapshot.problems or not _failing(plan):
        return snapshot, plan
    return _Fallback(snapshot, options, registered, progress, processes).plan(plan)


def _with_own_namespaces(snapshot: Snapshot, reader: RegistrationReader) -> Snapshot:
    """Return the snapshot without heads that take the namespaces of other targets."""
    conflicts = fleet.legacy_namespace_conflicts(
        snapshot.registrations,
        snapshot.environment,
        snapshot.fleet.targets,
        reader.previous.targets if reader.previous else {},
    )
    registrations = tuple(
        reader.without_head(item, conflicts[item.registration.name])
        if item.registration.name in conflicts
        else item
        for item in snapshot.registrations
    )
    return dataclasses.replace(snapshot, registrations=registrations)


def _failing(plan: Plan) -> dict[str, list[PlannedAssignment]]:
    """Return the failing assignments by their registration."""
    failing: dict[str, list[PlannedAssignment]] = {}
    for item in plan.assignments:
        if item.failure and item.assignment.target.registration:
            failing.setdefault(item.assignment.target.registration, []).append(item)
    return failing


class _Fallback:
    """Replaces the registrations at fault by their last good commits."""

    def __init__(
        self,
        snapshot: Snapshot,
        options: PlanOptions,
        reader: RegistrationReader,
        progress: Progress,
        processes: Processes,
    ) -> None:
        self._processes = processes
        self._snapshot = snapshot
        self._options = options
        self._progress = progress
        self._reader = reader
        self._read: Readings = {item.registration.name: item for item in snapshot.registrations}
        self._planned = dict(self._read)
        self._at_fault: set[str] = set()

    def plan(self, plan: Plan) -> tuple[Snapshot, Plan]:
        """Plan again until no registration changes; each changes at most twice."""
        snapshot = self._snapshot
        changed = self._at_first(plan)
        while changed:
            self._planned |= changed
            registrations = tuple(self._planned.values())
            snapshot = dataclasses.replace(self._snapshot, registrations=registrations)
            scheduler = scheduler_of(snapshot.declared, self._options.scheduler)
            plan = make_plan(snapshot, self._options, scheduler, self._progress, self._processes)
            changed = self._afterwards(_failing(plan))
        return snapshot, plan

    def _at_first(self, plan: Plan) -> Readings:
        """Return replacements for the registrations that are, or may be, at fault."""
        failing = _failing(plan)
        heads = [name for name in failing if self._read[name].state == "head"]
        last_good = dict(
            zip(heads, in_parallel(lambda name: self._last_good(name, failing), heads), strict=True)
        )
        changed: Readings = {}
        for name, items in failing.items():
            item = last_good.get(name, self._read[name])
            is_last_good = item.state == "last-good" and name in last_good
            if any(planned.failure and planned.failure.is_delivered for planned in items) or (
                not is_last_good and is_own_fault(items, plan, self._options)
            ):
                self._at_fault.add(name)
                changed[name] = item if name in last_good else self._kept(name, items)
            elif is_last_good and item.workloads != self._read[name].workloads:
                changed[name] = item  # it is at fault if this commit renders
        return changed

    def _afterwards(self, failing: Failing) -> Readings:
        """Return replacements for the last good commits that fail too."""
        return {
            name: self._kept(name, items) if name in self._at_fault else self._read[name]
            for name, items in failing.items()
            if (self._read[name].state, self._planned[name].state) == ("head", "last-good")
        }

    def _last_good(self, name: str, failing: Failing) -> RegistrationReading:
        return self._reader.without_head(self._read[name], _problems(failing[name]))

    def _kept(self, name: str, failing: Sequence[PlannedAssignment]) -> RegistrationReading:
        """Return a registration whose last good commit fails: its targets stay as they are."""
        reading = self._planned[name]
        problems = (
            fleet.registered_problem(reading.registration, item) for item in _problems(failing)
        )
        return dataclasses.replace(
            reading,
            state="kept",
            revision=None,
            workloads=(),
            unusable=self._read[name].workloads,
            problems=(*reading.problems, *problems),
        )


def _problems(failing: Iterable[PlannedAssignment]) -> Iterator[Problem]:
    """Yield one problem for each cause of failing assignments, with the first as an example.

    Problems of the control plane's Templates stand at the registration's own file.
    """
    causes: dict[tuple[str, str], list[PlannedAssignment]] = {}
    for item in failing:
        if item.failure and not item.failure.is_consequence:
            causes.setdefault(_cause(item, item.failure), []).append(item)
    for first, *others in causes.values():
        if first.failure is None:
            continue
        problem = first.failure.problem_of(first.assignment)
        if others:
            count = counted(len(others), "other assignment")
            message = f"{problem.message.rstrip()} (the same for {count})"
            problem = dataclasses.replace(problem, message=message)
        if first.failure.is_delivered:
            yield problem
            continue
        yield dataclasses.replace(
            problem,
            where=first.assignment.target.where,
            advice="the same Templates and configuration render the last good commit, other "
            "targets, or usual texts: correct the differences from these",
            code="registration-render",
        )


def _cause(item: PlannedAssignment, failure: rendering.Failure) -> tuple[str, str]:
    """Return a key that is equal for assignments that fail for the same reason.

    Templates may print the names of an assignment in their messages.
    """
    assignment, message = item.assignment, failure.headline
    target = assignment.target
    for name in (item.namespace, target.name, target.workload, assignment.cluster_type.name):
        message = message.replace(name, "…") if name else message
    return failure.code, message
