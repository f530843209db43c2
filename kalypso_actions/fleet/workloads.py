"""The documents of a registered repository → Workloads and their deployment targets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet.assembly import flux_labels
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kubernetes_names import label_value_fault, object_name_fault


def read_workloads(
    registration: kinds.WorkloadRegistration, environment: str, documents: Iterable[Document]
) -> tuple[tuple[kinds.Workload, ...], Diagnostics]:
    """The Workloads of one registration, their targets complete for `environment`.

    Only Workloads may come from there: a team that could deliver a ClusterType, a policy or a
    Template would write into the whole fleet. Any problem makes the registration invalid.
    """
    diagnostics = Diagnostics()
    found: dict[str, kinds.Workload] = {}
    for document in documents:
        if document.kind != "Workload":
            message = f"{document.kind} {document.name!r} comes from a registered repository"
            advice = (
                f"registration {registration.name!r} may deliver Workloads only; move the rest out "
                f"of {registration.source.path!r}"
            )
            diagnostics.problems.append(Problem(message, document.where, advice))
            continue
        noun = parse_document(document, diagnostics)
        if not isinstance(noun, kinds.Workload):
            continue
        workload = _complete(noun, registration, environment)
        diagnostics.problems.extend(_name_faults(workload))
        if workload.name in found:
            message = f"Workload {workload.name!r} is already defined in "
            message += str(found[workload.name].where)
            diagnostics.problems.append(
                Problem(message, workload.where, "remove or rename one of the two")
            )
        found[workload.name] = workload
    return tuple(found[name] for name in sorted(found)), diagnostics


@dataclass(frozen=True, slots=True)
class _Claim:
    """Somebody who delivers something of a name; `registration` is "" for the control plane."""

    registration: str
    workload: str
    where: Location

    def __str__(self) -> str:
        owner = f"registration {self.registration!r}" if self.registration else "the control plane"
        return f"{owner} in {self.where}"


def workload_conflicts(
    workloads: Mapping[str, Iterable[kinds.Workload]],
    environment: str,
    own: Iterable[kinds.DeploymentTarget],
) -> dict[str, list[Problem]]:
    """By registration: every Workload and target of a name that somebody else delivers too.

    `own` are the targets that stand in the control plane. Of two registrations none is trusted: a
    name belongs to one team.
    """
    named: dict[str, list[_Claim]] = {}
    targets: dict[str, list[_Claim]] = {}
    for target in own:
        targets[target.name] = [_Claim("", target.workload, target.where)]
    for registration, delivered in sorted(workloads.items()):
        for workload in delivered:
            claim = _Claim(registration, workload.name, workload.where)
            named.setdefault(workload.name, []).append(claim)
            for target in workload.targets:
                if target.environment == environment:
                    claim = _Claim(registration, workload.name, target.where)
                    targets.setdefault(target.name, []).append(claim)
    conflicts: dict[str, list[Problem]] = {}
    for kind, everything in (("Workload", named), ("deployment target", targets)):
        for name, claims in everything.items():
            for claim in claims:
                rivals = [other for other in claims if _collide(kind, claim, other)]
                if rivals and claim.registration:
                    message = f"{kind} {name!r} is delivered by {'; '.join(map(str, rivals))} too"
                    conflicts.setdefault(claim.registration, []).append(
                        Problem(message, claim.where, "rename one, or remove a registration")
                    )
    return conflicts


def _collide(kind: str, claim: _Claim, other: _Claim) -> bool:
    """Targets of equally named Workloads are no news: the Workloads are told of."""
    if claim is other:
        return False
    told = claim.workload == other.workload and bool(claim.registration and other.registration)
    return kind == "Workload" or not told


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
