"""The documents of a registered repository → Workloads and their deployment targets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from kalypso_actions.errors import Problem
from kalypso_actions.fleet.assembly import flux_labels
from kalypso_actions.fleet.parsing import Findings, parse_document
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document
from kalypso_actions.model.names import label_value_fault, object_name_fault


def read_workloads(
    registration: kinds.WorkloadRegistration, environment: str, documents: Iterable[Document]
) -> tuple[tuple[kinds.Workload, ...], Findings]:
    """The Workloads of one registration, their targets complete for `environment`.

    Only Workloads may come from there: a team that could deliver a ClusterType, a policy or a
    Template would write into the whole fleet. Any problem makes the registration invalid.
    """
    findings = Findings()
    found: dict[str, kinds.Workload] = {}
    for document in documents:
        if document.kind != "Workload":
            message = f"{document.kind} {document.name!r} comes from a registered repository"
            advice = (
                f"registration {registration.name!r} may deliver Workloads only; move the rest out "
                f"of {registration.source.path!r}"
            )
            findings.problems.append(Problem(message, document.where, advice))
            continue
        noun = parse_document(document, findings)
        if not isinstance(noun, kinds.Workload):
            continue
        workload = _complete(noun, registration, environment)
        findings.problems.extend(_name_faults(workload))
        if workload.name in found:
            message = f"Workload {workload.name!r} is already defined in "
            message += str(found[workload.name].where)
            findings.problems.append(
                Problem(message, workload.where, "remove or rename one of the two")
            )
        found[workload.name] = workload
    return tuple(found[name] for name in sorted(found)), findings


def workload_conflicts(
    workloads: Mapping[str, Iterable[kinds.Workload]],
) -> dict[str, list[Problem]]:
    """By registration: every Workload whose name another registration delivers too.

    None of the two is trusted: a name belongs to one team.
    """
    owners: dict[str, list[tuple[str, kinds.Workload]]] = {}
    for registration, delivered in sorted(workloads.items()):
        for workload in delivered:
            owners.setdefault(workload.name, []).append((registration, workload))
    conflicts: dict[str, list[Problem]] = {}
    for name, claims in owners.items():
        if len(claims) < 2:
            continue
        for registration, workload in claims:
            others = "; ".join(
                f"{other!r} in {rival.where}" for other, rival in claims if other != registration
            )
            message = f"Workload {name!r} is delivered by registration {others} too"
            conflicts.setdefault(registration, []).append(
                Problem(message, workload.where, "rename one, or remove a registration")
            )
    return conflicts


def _complete(
    workload: kinds.Workload, registration: kinds.WorkloadRegistration, environment: str
) -> kinds.Workload:
    """What the registration gives: its workspace, the forced labels, and Flux's."""
    stamped = {
        **flux_labels(f"{environment}-{registration.name}"),
        "workload": workload.name,
        "workspace": registration.workspace,
    }
    return dataclasses.replace(
        workload,
        targets=tuple(
            dataclasses.replace(
                target,
                workspace=registration.workspace,
                labels={**target.labels, **stamped},
                registration=registration.name,
            )
            for target in workload.targets
        ),
    )


def _name_faults(workload: kinds.Workload) -> Iterable[Problem]:
    fault = label_value_fault(workload.name)
    if fault:
        message = f"Workload {workload.name!r}: its name becomes a label's value and {fault}"
        yield Problem(message, workload.where)
    seen: set[tuple[str, str]] = set()
    for target in workload.targets:
        fault = object_name_fault(target.name)
        if fault:
            yield Problem(f"the deployment target's name {target.name!r} {fault}", target.where)
        key = (target.environment, target.name)
        if key in seen:
            message = (
                f"deployment target {target.name!r} stands twice in Workload {workload.name!r}"
            )
            yield Problem(message, target.where, "remove or rename one of the two")
        seen.add(key)
