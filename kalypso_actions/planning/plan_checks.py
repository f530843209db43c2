"""The semantic checks of planned environments, and the warnings that people acknowledge."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from kalypso_actions import gitops
from kalypso_actions.errors import Problem
from kalypso_actions.fleet import Branch, assemble
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, WorkloadRegistration
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.planning.fleet_checks import (
    Acknowledgements,
    FleetScope,
    FleetView,
    check_fleet,
    merge_field_faults,
)
from kalypso_actions.planning.plan import Plan


def judged(plan: Plan, snapshot: Snapshot, view: FleetView) -> Plan:
    """Add the findings of the fleet's checks to a plan, and set acknowledged warnings apart."""
    findings = check_fleet(view)
    acknowledgements = Acknowledgements(documents_of(snapshot))
    causes = without_causes(plan.warnings, findings.warnings)
    problems, warnings = merge_field_faults(plan.problems, (*causes, *findings.warnings))
    all_warnings = dict.fromkeys((*warnings, *acknowledgements.problems))
    remaining, acknowledged = acknowledgements.split(all_warnings)
    return dataclasses.replace(
        plan,
        problems=(*problems, *findings.problems),
        faults=(*plan.faults, *findings.problems),
        warnings=tuple(remaining),
        notes=tuple(findings.notes),
        acknowledged=tuple(acknowledged),
    )


def without_causes(warnings: Iterable[Problem], findings: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the warnings that `findings` do not quote as causes of a missing application."""
    missing = {item.where for item in findings if item.code == "application-missing"}
    for warning in warnings:
        if warning.where not in missing or not warning.message.startswith("registration "):
            yield warning


def documents_of(snapshot: Snapshot) -> Iterator[Document]:
    """Yield all documents that a run has read."""
    yield from snapshot.own.documents
    for _, reading in snapshot.bases:
        yield from reading.documents
    for registration in snapshot.registrations:
        yield from registration.documents


def fleet_view(
    plan: Plan,
    snapshot: Snapshot,
    environments: Mapping[str, Environment] | None,
    others: Mapping[str, Reading],
) -> FleetView:
    """Return a planned environment with the others of its control plane.

    `environments` are the Environment objects, None if they were not read, and `others` the
    branches of other environments, as far as they could be read.
    """
    scope = scope_of(plan, snapshot)
    if scope is None or environments is None:
        return FleetView((scope,) if scope else ())
    names = [name for name in environments if name != plan.environment]
    known = [_other_scope(name, others[name], snapshot) for name in names if name in others]
    scopes = [item for item in known if isinstance(item, FleetScope)]
    faults = tuple(item for item in known if isinstance(item, Problem))
    return FleetView((scope, *scopes), environments, len(scopes) == len(names), faults)


def scope_of(plan: Plan, snapshot: Snapshot) -> FleetScope | None:
    """Return the documents of one environment that the checks judge.

    None if documents are missing or faulty: others may refer to these documents.
    """
    if snapshot.problems or MAIN_BASE_REPO not in (base.name for base, _ in snapshot.bases):
        return None
    readings = snapshot.registrations
    unread = [item for item in readings if _lacks_targets(item)]
    return FleetScope(
        plan.fleet,
        tuple(workload for item in readings for workload in item.workloads),
        frozenset((document.kind, document.name) for document in snapshot.own.documents),
        tuple(item.registration for item in unread),
        {
            item.registration.name: _cause(item)
            for item in unread
            if not item.is_readable and _is_new(item.registration, snapshot)
        },
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
    fleet, findings = assemble(environment, Branch(environment, own.documents), branches)
    for problem in (*own.problems, *findings.problems):
        message = f"environment {environment!r} is not judged: {problem.message}"
        return dataclasses.replace(problem, message=message, code="environment-unjudged")
    read = {item.registration.source: item for item in snapshot.registrations}
    known = [read[item.source] for item in fleet.registrations if item.source in read]
    unread = [item for item in fleet.registrations if item.source not in read]
    unread += [item.registration for item in known if _lacks_targets(item)]
    workloads = (workload for item in known for workload in item.workloads)
    return FleetScope.of(fleet, own.documents, workloads, unread)


def _lacks_targets(reading: RegistrationReading) -> bool:
    """Whether the fleet has no targets of a registration, so that the checks report it."""
    return reading.state == "kept" or not any(item.targets for item in reading.workloads)


def _cause(reading: RegistrationReading) -> str:
    """Return why a repository cannot be read, without the registration's name."""
    messages = (problem.message.partition(": ")[2] for problem in reading.problems)
    return next(messages, f"{reading.registration.source.repo} cannot be read")


def _is_new(registration: WorkloadRegistration, snapshot: Snapshot) -> bool:
    """Whether no base tree can contain the targets of a registration yet.

    A tree with files but without `sources.json` may contain them.
    """
    trees = snapshot.base_trees
    previous = gitops.previous_sources(trees, snapshot.environment, snapshot.promoted_commit)
    if previous is None:
        return bool(trees) and not any(tree.entries for tree in trees)
    known = previous.registrations.get(registration.name)
    return known is None or known.commit is None
