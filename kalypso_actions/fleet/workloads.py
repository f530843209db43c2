"""Documents of a registered repository → Workloads and their deployment targets."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Sequence

from kalypso_actions.errors import Problem
from kalypso_actions.fleet.assembly import flux_labels
from kalypso_actions.fleet.delivered_texts import text_faults
from kalypso_actions.fleet.parsing import KINDS, Diagnostics, parse_document, unknown_kind
from kalypso_actions.model import kinds
from kalypso_actions.model.delivery import DELIVERY, DeliveryRules, RegistrationText
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kubernetes_names import LABEL_LIMIT, dns_label_fault, label_value_fault
from kalypso_go.goyaml.scalars import is_text


def read_workloads(
    registration: kinds.WorkloadRegistration,
    environment: str,
    documents: Iterable[Document],
    delivery: DeliveryRules = DELIVERY,
) -> tuple[tuple[kinds.Workload, ...], Diagnostics]:
    """Parse the Workloads of a registration, and complete their targets for `environment`.

    Any problem makes the registration invalid.
    """
    advice = (
        f"registration {registration.name!r} may deliver only Workloads; move other kinds out of "
        f"{registration.source.path!r}"
    )
    workloads, diagnostics = parse_workloads(documents, advice, delivery.text)
    diagnostics.problems += _too_many_targets(workloads, environment, delivery.max_targets)
    for workload in workloads:
        diagnostics.problems.extend(_namespace_faults(workload, environment))
    return tuple(_complete(item, registration, environment) for item in workloads), diagnostics


def parse_workloads(
    documents: Iterable[Document],
    foreign_advice: str,
    registration_text: RegistrationText = "strict",
) -> tuple[tuple[kinds.Workload, ...], Diagnostics]:
    """Parse documents that must be Workloads; return them by name, and all problems.

    All other kinds are problems, with `foreign_advice`: an application team must not deliver a
    ClusterType, a policy or a Template, which affect the whole fleet. With `any`, texts that
    Templates must not print are warnings.
    """
    diagnostics = Diagnostics()
    workloads: dict[str, kinds.Workload] = {}
    for document in documents:
        if document.kind != "Workload":
            diagnostics.problems.append(
                unknown_kind(document)
                if is_meant_as_workload(document)
                else Problem(
                    f"{document.kind} {document.name!r} is not a Workload",
                    document.where,
                    foreign_advice,
                    "registration-foreign-kind",
                )
            )
            continue
        workload = parse_document(document, diagnostics)
        if not isinstance(workload, kinds.Workload):
            continue
        is_strict = registration_text == "strict"
        faults = diagnostics.problems if is_strict else diagnostics.warnings
        faults.extend(text_faults(document))
        diagnostics.problems.extend(_name_faults(workload))
        if not workload.targets:
            message = f"Workload {workload.name!r} has no deployment targets: it runs nowhere"
            where = document.at("spec", "deploymentTargets")
            advice = "add a target for each environment"
            problem = Problem(message, where, advice, "registration-without-targets")
            diagnostics.warnings.append(problem)
        if workload.name in workloads:
            message = f"Workload {workload.name!r} is already defined in "
            message += str(workloads[workload.name].where)
            advice = "remove or rename one of the two"
            problem = Problem(message, workload.where, advice, "object-duplicate")
            diagnostics.problems.append(problem)
        workloads[workload.name] = workload
    return tuple(workloads[name] for name in sorted(workloads)), diagnostics


def is_meant_as_workload(document: Document) -> bool:
    """Whether a document is a Workload, perhaps with a misspelled kind."""
    if document.kind in KINDS:
        return document.kind == "Workload"
    return bool(difflib.get_close_matches(document.kind, ("Workload",)))


def _complete(
    workload: kinds.Workload, registration: kinds.WorkloadRegistration, environment: str
) -> kinds.Workload:
    """Add the registration's workspace, the reserved labels, and Flux's labels."""
    reserved = {
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
                labels={**target.labels, **reserved},
                registration=registration.name,
            )
            for target in workload.targets
        ),
    )


def _name_faults(workload: kinds.Workload) -> Iterable[Problem]:
    fault = label_value_fault(workload.name)
    if fault:
        message = f"Workload {workload.name!r}: its name becomes a label's value and {fault}"
        yield Problem(message, workload.where, code="name-invalid")
    seen: set[tuple[str, str]] = set()
    for target in workload.targets:
        fault = dns_label_fault(target.name)
        if not fault and not is_text(target.name):
            fault = "is a number or a date in YAML, unless a Template quotes it"
        if fault:
            message = f"the deployment target's name {target.name!r} becomes a folder and a part "
            message += f"of a namespace; it {fault}"
            yield Problem(message, target.where, code="name-invalid")
        key = (target.environment, target.name)
        if key in seen:
            message = (
                f"deployment target {target.name!r} is defined twice in Workload {workload.name!r}"
            )
            advice = "remove or rename one of the two"
            yield Problem(message, target.where, advice, "target-duplicate")
        seen.add(key)


def _too_many_targets(
    workloads: Sequence[kinds.Workload], environment: str, limit: int
) -> Iterator[Problem]:
    targets = [
        target
        for workload in workloads
        for target in workload.targets
        if target.environment == environment
    ]
    if len(targets) > limit:
        yield Problem(
            f"the registration delivers {len(targets)} deployment targets to {environment!r}, but "
            f"the limit is {limit}",
            targets[limit].where,
            "divide it into several registrations, or ask the platform team to raise max-targets",
            "registration-too-large",
        )


def without_workloads(registration: kinds.WorkloadRegistration) -> Problem:
    """Return the warning about a registration whose folder has no Workload."""
    source = registration.source
    return Problem(
        f"the folder {source.path!r} of {source.repo} has no Workload: the fleet lacks the "
        "application",
        registration.where,
        "correct the path; check that .sourceignore and kustomization.yaml include the Workload",
        "registration-without-targets",
    )


def registered_problem(registration: kinds.WorkloadRegistration, problem: Problem) -> Problem:
    """Add the registration's name to a problem, and its location to a problem without a file."""
    where, message = problem.where, problem.message
    if where is None or not where.path:
        place = where.repository if where else registration.source.repo
        where, message = registration.where, f"{place}: {message}"
    return dataclasses.replace(
        problem, message=f"registration {registration.name!r}: {message}", where=where
    )


def _namespace_faults(workload: kinds.Workload, environment: str) -> Iterable[Problem]:
    """Report names that leave no room for a cluster type or workspace in any namespace."""
    for target in workload.targets:
        shortest = len(f"{environment}--{target.name}")
        if target.environment == environment and shortest > LABEL_LIMIT >= len(target.name):
            message = f"the deployment target's name {target.name!r} leaves no room in the "
            message += f"namespace '{environment}-<cluster type>-{target.name}' of at most "
            message += f"{LABEL_LIMIT} characters"
            advice = "give the target or the workload a shorter name"
            yield Problem(message, target.where, advice, "namespace-invalid")
