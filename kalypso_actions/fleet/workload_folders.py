"""Check a folder of Workloads without a control plane, for an application team."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet.parsing import Diagnostics
from kalypso_actions.fleet.workloads import is_meant_as_workload, parse_workloads
from kalypso_actions.model import kinds
from kalypso_actions.model.delivery import RegistrationText
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kubernetes_names import dns_label_fault
from kalypso_actions.model.nearest import nearest

_MANIFESTS: Final = ("repo", "branch", "path")
"""The keys of `manifests` that the Templates of upstream and of the starter print."""

_FOREIGN_ADVICE: Final = (
    "a WorkloadRegistration delivers only Workloads; move Workloads to a folder of their own"
)

_EXAMPLE: Final = """\
add workload/workload.yaml:
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: NAME
spec:
  deploymentTargets:
    - name: TARGET
      environment: dev
      manifests:
        repo: URL OF THE REPOSITORY OF THE MANIFESTS
        branch: dev
        path: ./TARGET
"""


def folder_of_workloads(documents: Iterable[Document]) -> str:
    """Return the deepest folder that contains all Workloads; "." for the root or no Workloads."""
    workloads = filter(is_meant_as_workload, documents)
    folders = [posixpath.dirname(document.where.path) for document in workloads]
    return (posixpath.commonpath(folders) if folders else "") or "."


def check_workloads(
    reading: Reading, registration_text: RegistrationText = "strict"
) -> tuple[tuple[kinds.Workload, ...], Diagnostics]:
    """Return the Workloads of a folder, and all findings that need no control plane."""
    workloads, findings = parse_workloads(reading.documents, _FOREIGN_ADVICE, registration_text)
    problems = [*reading.problems, *findings.problems]
    for workload in workloads:
        problems += _environment_faults(workload)
    if not reading.problems and not any(map(is_meant_as_workload, reading.documents)):
        revision = reading.revision
        where = Location(revision.repository, branch=revision.branch)
        problems.append(Problem("there is no Workload", where, _EXAMPLE, "workload-missing"))
    warnings = [*reading.warnings, *findings.warnings]
    for document in reading.documents:
        warnings += _manifests_warnings(document)
    return workloads, Diagnostics(problems, warnings)


def _environment_faults(workload: kinds.Workload) -> Iterator[Problem]:
    """Report environments that no control plane can have."""
    for target in workload.targets:
        fault = dns_label_fault(target.environment)
        if fault:
            message = f"deployment target {target.name!r}: no environment can have the name "
            message += f"{target.environment!r}; it {fault}"
            advice = "write the name of an Environment of the control plane, such as dev"
            yield Problem(message, target.environment_where, advice, "name-invalid")


def _manifests_warnings(document: Document) -> Iterator[Problem]:
    """Warn about targets whose `manifests` lack the repository, branch or folder."""
    match document.body:
        case {"kind": "Workload", "spec": {"deploymentTargets": list(targets)}}:
            pass
        case _:
            return
    for index, target in enumerate(targets):
        match target:
            case {"manifests": dict(manifests)}:
                missing = [key for key in _MANIFESTS if not manifests.get(key)]
            case _:
                continue  # parsing reports it
        if missing:
            yield Problem(
                f"Workload {document.name!r}: spec.deploymentTargets.{index}.manifests has no "
                f"{' and no '.join(missing)}",
                document.at("spec", "deploymentTargets", index, "manifests"),
                _manifests_advice(missing, [str(key) for key in manifests]),
                "manifests-incomplete",
            )


def _manifests_advice(missing: Iterable[str], keys: Iterable[str]) -> str:
    """Suggest new names for keys that look misspelled, or else the addition of keys."""
    others = [key for key in keys if key not in _MANIFESTS]
    near = {key: nearest(key, others) for key in missing}
    renamed = [f"rename {other} to {key}" for key, other in near.items() if other]
    return "; ".join(renamed) or "name the repository, branch and folder of the target's manifests"
