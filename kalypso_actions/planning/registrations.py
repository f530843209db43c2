"""Decide what happens to a registration whose head is faulty: it must not stop a fleet.

    faults = faulty_heads(heads, ...)                       # what the documents show
    plan = make_plan(snapshot, ...)
    heads = failing_heads(snapshot, plan)                   # what rendering shows
    snapshot, plan = plan_again(snapshot, plan, last_good, ...)

The last good commit, from which the last tree was made, replaces a faulty head. Without a usable
one, the folders of the targets stay as they are. Everything here is decided from values: the caller
reads the last good commits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.errors import Problem
from kalypso_actions.fleet.workloads import read_workloads, registered_problem, without_workloads
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import (
    Assignment,
    DeliveryRules,
    DeploymentTarget,
    RepositoryPath,
    WorkloadRegistration,
)
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.config_checks import ConfigValidator
from kalypso_actions.planning.fleet_checks.documents import schema_faults
from kalypso_actions.planning.fleet_manifests import OF_MANIFESTS, ManifestChecker
from kalypso_actions.planning.name_conflicts import (
    legacy_namespace_conflicts,
    workload_conflicts,
)
from kalypso_actions.planning.plan import Plan, PlanOptions, layout_options
from kalypso_actions.platform_config import PlatformConfig

Readings = dict[str, RegistrationReading]
"""Readings by the name of their registration."""

_MAX_FAILURES: Final = 200
"""The most failures of a registration to examine; the others rarely have a different cause."""

_MAX_OTHERS: Final = 5
"""The most registrations whose texts are tried."""


def unreadable(
    registration: WorkloadRegistration,
    problems: Iterable[Problem],
    last_good: tuple[RepositoryPath, str] | None,
) -> RegistrationReading:
    """Return the reading of a registration whose repository cannot be read."""
    faults = tuple(registered_problem(registration, problem) for problem in problems)
    return RegistrationReading(
        registration, "kept", None, (), faults, is_readable=False, last_good=last_good
    )


def registration_reading(
    registration: WorkloadRegistration,
    reading: Reading,
    environment: str,
    delivery: DeliveryRules,
    last_good: tuple[RepositoryPath, str] | None = None,
) -> RegistrationReading:
    """Return the Workloads in the documents of a registered repository, and their faults.

    A repository that contains anything except valid Workloads is unusable.
    """
    workloads, findings = read_workloads(registration, environment, reading.documents, delivery)
    targets = chain.from_iterable(workload.targets for workload in workloads)
    problems = (*reading.problems, *findings.problems, *schema_faults(targets))
    nothing = () if workloads or problems else (without_workloads(registration),)
    return RegistrationReading(
        registration=registration,
        state="kept" if problems else "head",
        revision=None if problems else reading.revision,
        workloads=() if problems else workloads,
        problems=tuple(registered_problem(registration, problem) for problem in problems),
        warnings=(*reading.warnings, *findings.warnings, *nothing),
        documents=reading.documents,
        unusable=workloads if problems else (),
        last_good=last_good,
    )


def faulty_heads(
    heads: Sequence[RegistrationReading],
    environment: str,
    own: Sequence[DeploymentTarget],
    previous: PreviousSources | None,
) -> Readings:
    """Return the heads that are unusable, without their Workloads.

    They have problems, or deliver a Workload or target that the control plane (`own`) or another
    registration delivers too, unless they own the name in the last tree.
    """
    conflicts = workload_conflicts(
        {head.registration.name: head.workloads for head in heads if not head.problems},
        environment,
        own,
        previous or PreviousSources(),
        {head.registration.name: head.registration.source_where for head in heads},
    )
    return {
        head.registration.name: _unusable(head, conflicts.get(head.registration.name, ()))
        for head in heads
        if head.problems or head.registration.name in conflicts
    }


def namespace_conflicts(
    readings: Sequence[RegistrationReading],
    environment: str,
    own: Sequence[DeploymentTarget],
    previous: PreviousSources | None,
) -> Readings:
    """Return the heads that take legacy namespaces of other targets, without their Workloads."""
    conflicts = legacy_namespace_conflicts(
        readings, environment, own, previous.targets if previous else {}
    )
    return {
        item.registration.name: _unusable(item, conflicts[item.registration.name])
        for item in readings
        if item.registration.name in conflicts
    }


def failing_heads(snapshot: Snapshot, plan: Plan) -> Readings:
    """Return the heads whose assignments fail, as if they were unusable."""
    failing = _failing(plan)
    return {
        item.registration.name: _unusable(item, _problems(failing[item.registration.name]))
        for item in snapshot.registrations
        if item.state == "head" and item.registration.name in failing
    }


def last_good_place(
    registration: WorkloadRegistration, previous: PreviousSources | None
) -> tuple[RepositoryPath, str] | None:
    """Return the folder and the commit from which the last tree was made; None if there is none.

    A registration that names another repository now has none.
    """
    known = previous.registrations.get(registration.name) if previous else None
    if known is None or known.commit is None:
        return None
    if repository_key(known.repository) != repository_key(registration.source.repo):
        return None
    return RepositoryPath(known.repository, known.branch, known.path), known.commit


def _replaced(snapshot: Snapshot, readings: Mapping[str, RegistrationReading]) -> Snapshot:
    """Return the snapshot with other readings of some registrations."""
    registrations = tuple(
        readings.get(item.registration.name, item) for item in snapshot.registrations
    )
    return dataclasses.replace(snapshot, registrations=registrations)


def plan_again(
    snapshot: Snapshot,
    plan: Plan,
    last_good: Mapping[str, RegistrationReading],
    options: PlanOptions,
    make: Callable[[Snapshot], Plan],
) -> tuple[Snapshot, Plan]:
    """Plan with the last good commits of failing registrations; return the snapshot and the plan.

    `last_good` are the readings of the failing heads, and `make` plans a snapshot. A registration
    whose assignments fail is at fault if its text fails, or if the same Templates and configuration
    render its last good commit. Without such a commit, it is at fault if they render the targets of
    others or usual texts, or if only its own schemas refuse the configuration. The last good commit
    replaces its head if it renders; otherwise the targets stay as they are. All other failures are
    faults of the control plane, and remain in the plan. Each registration changes at most twice.
    """
    read = {item.registration.name: item for item in snapshot.registrations}
    at_fault: set[str] = set()
    changed: Readings = {}
    for name, items in _failing(plan).items():
        item = last_good.get(name, read[name])
        is_last_good = item.state == "last-good" and name in last_good
        if any(planned.failure and planned.failure.is_delivered for planned in items) or (
            not is_last_good and is_own_fault(items, plan, options)
        ):
            at_fault.add(name)
            changed[name] = item if name in last_good else _kept(item, read[name], items)
        elif is_last_good and item.workloads != read[name].workloads:
            changed[name] = item  # it is at fault if this commit renders
    while changed:
        snapshot = _replaced(snapshot, changed)
        plan = make(snapshot)
        present = {item.registration.name: item for item in snapshot.registrations}
        changed = {
            name: _kept(present[name], read[name], items) if name in at_fault else read[name]
            for name, items in _failing(plan).items()
            if (read[name].state, present[name].state) == ("head", "last-good")
        }
    return snapshot, plan


def is_own_fault(items: Iterable[PlannedAssignment], plan: Plan, options: PlanOptions) -> bool:
    """Whether a registration causes the failures of its assignments.

    It does if its own schemas refuse a configuration that the platform's schemas accept, or if the
    same Templates render other registrations' targets, or its own targets with usual texts or with
    the texts of others.
    """
    renderer = rendering.Renderer(plan.environment, plan.fleet.templates, layout_options(options))
    validator = ConfigValidator(PlatformConfig(plan.fleet))
    renders = [item.assignment for item in plan.assignments if item.failure is None]
    rendered = {(item.cluster_type.name, item.target.registration) for item in renders}
    targets = {item.target.registration: item.target for item in renders}

    checker = ManifestChecker(plan.fleet.templates)

    def is_sound(assignment: Assignment, files: Mapping[str, bytes]) -> bool:
        checked = checker.check(assignment, files)
        return not any(fault.is_certain for file in checked.files for fault in file.faults)

    def is_own(item: PlannedAssignment) -> bool:
        assignment, target = item.assignment, item.assignment.target
        renders_others = any(
            cluster_type == assignment.cluster_type.name and name != target.registration
            for cluster_type, name in rendered
        )
        others = [other for name, other in targets.items() if name != target.registration]
        match item.failure:
            case rendering.Failure(code=rendering.REFUSED_CONFIG | rendering.BROKEN_SCHEMA):
                bare = dataclasses.replace(target, config_schemas=())
                other = dataclasses.replace(assignment, target=bare)
                return validator.failure(other, item.config) is None
            case rendering.Failure(code="template-failed"):
                if renders_others:
                    return True
                return renderer.renders_other_texts(assignment, item.config, others[:_MAX_OTHERS])
            case rendering.Failure(code=code) if code.startswith(OF_MANIFESTS):
                return renders_others or renderer.renders_other_texts(
                    assignment, item.config, others[:_MAX_OTHERS], is_sound
                )
        return False

    return all(map(is_own, islice(items, _MAX_FAILURES)))


def _failing(plan: Plan) -> dict[str, list[PlannedAssignment]]:
    """Return the failing assignments by their registration."""
    failing: dict[str, list[PlannedAssignment]] = {}
    for item in plan.assignments:
        if item.failure and item.assignment.target.registration:
            failing.setdefault(item.assignment.target.registration, []).append(item)
    return failing


def _unusable(head: RegistrationReading, problems: Iterable[Problem]) -> RegistrationReading:
    """Return a head that is not used, with further reasons: its targets stay as they are."""
    reasons = (registered_problem(head.registration, problem) for problem in problems)
    return dataclasses.replace(
        head,
        state="kept",
        revision=None,
        workloads=(),
        unusable=head.workloads or head.unusable,
        problems=(*head.problems, *reasons),
    )


def _kept(
    last_good: RegistrationReading,
    head: RegistrationReading,
    failing: Sequence[PlannedAssignment],
) -> RegistrationReading:
    """Return a registration whose last good commit fails: its targets stay as they are."""
    without = _unusable(last_good, _problems(failing))
    return dataclasses.replace(without, unusable=head.workloads)


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
