"""Documents of a registered repository → Workloads and their deployment targets.

A Template prints the texts of a Workload, which an application team writes, into YAML. A line break
would add the team's lines to the platform's document, `{{` would begin a template, `${` would begin
a substitution by Flux
(https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution), and
`$(` a command of a shell.
"""

from __future__ import annotations

import dataclasses
import difflib
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.fleet import schemas
from kalypso_actions.fleet.assembly import duplicate, flux_labels
from kalypso_actions.fleet.parsing import KINDS, parse_document, unknown_kind
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Path, Reading
from kalypso_actions.model.kinds import DELIVERY, DeliveryRules, RegistrationText
from kalypso_actions.model.kubernetes_names import LABEL_LIMIT, dns_label_fault, label_value_fault
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.source_forms import (
    folder_fault,
    repository_fault,
    revision_fault,
)
from kalypso_go.goyaml.scalars import is_text

_TEMPLATE: Final = re.compile(r"\{\{|\$[{(]")

_NOT_IN_LINES: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Categories of Unicode: controls (U+0085 among them), invisible format characters (directions,
joiners, byte order marks), surrogates, and the separators of lines and paragraphs."""

_JOINED: Final = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""The joiners that Persian, Indic scripts and emoji need (RFC 5892, appendix A)."""

_FORMS: Final = {"repo": repository_fault, "branch": revision_fault, "path": folder_fault}

_SHOWN: Final = 60

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
    defined: dict[str, Document] = {}
    for document in documents:
        if document.kind != "Workload":
            diagnostics.problems.append(
                unknown_kind(document)
                if is_meant_as_workload(document)
                else Problem(
                    f"{document} is not a Workload",
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
        faults.extend(_text_faults(document))
        diagnostics.problems.extend(_name_faults(workload))
        if not workload.targets:
            message = f"Workload {workload.name!r} has no deployment targets: it runs nowhere"
            where = document.at("spec", "deploymentTargets")
            advice = "add a target for each environment"
            problem = Problem(message, where, advice, "registration-without-targets")
            diagnostics.warnings.append(problem)
        if workload.name in workloads:
            diagnostics.problems.append(duplicate(defined[workload.name], document))
        workloads[workload.name], defined[workload.name] = workload, document
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
        source.places.get("path", registration.where),
        "correct the path; check that .sourceignore and kustomization.yaml include the Workload",
        "registration-without-targets",
    )


def registered_problem(registration: kinds.WorkloadRegistration, problem: Problem) -> Problem:
    """Add the registration's name to a problem, and its location to a problem without a file."""
    where, message = problem.where, problem.message
    is_of_path = problem.code == "folder-missing"
    if where is None or not where.path or is_of_path:
        place = where.repository if where else registration.source.repo
        where = registration.source.culprit(message, registration.where)
        message = f"{place}: {message}"
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


class _Text(NamedTuple):
    """A key or a value, and its path in the document."""

    text: str
    path: Path
    is_key: bool = False


def _text_faults(document: Document) -> Iterator[Problem]:
    """Yield a problem for each faulty text of a valid Workload.

    The check covers all known fields, and therefore also fields of later versions. Templates print
    neither annotations nor `configSchemas`, which are JSON of many lines.
    """
    resource = schemas.WorkloadResource.model_validate(document.body)
    fields = resource.model_dump(
        by_alias=True, exclude_none=True, include={"metadata": {"name", "labels"}, "spec": True}
    )
    for text in _texts(fields, ()):
        fault = _text_fault(text)
        if fault:
            description, advice, code = fault
            message = f"Workload {document.name!r}: {_name(text)} {description}"
            yield Problem(message, document.at(*text.path), advice, code)


def _texts(value: object, path: Path) -> Iterator[_Text]:
    match path:
        case ("spec", "configSchemas") | ("spec", "deploymentTargets", int(), "configSchemas"):
            return
    match value:
        case str():
            yield _Text(value, path)
        case dict():
            for key, inner in value.items():
                yield _Text(str(key), (*path, key), is_key=True)
                yield from _texts(inner, (*path, key))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, (*path, index))


def _text_fault(text: _Text) -> tuple[str, str, str] | None:
    """Return description, advice and code of the first fault."""
    control = _control(_JOINED.sub("", text.text) if _is_free(text) else text.text)
    if control:
        description = f"has the control character or line separator U+{ord(control):04X}"
        advice = "write one line without control or invisible characters"
        return description, advice, "registration-text"
    template = _TEMPLATE.search(text.text)
    if template:
        what = "template" if template[0] == "{{" else "substitution"
        description = f"has {template[0]!r}, which begins a {what}"
        advice = f"write the text itself: {what}s belong to the control plane"
        return description, advice, "registration-template"
    match text.path:
        case ("spec", "deploymentTargets", int(), "manifests", str(key)) if not text.is_key:
            fault = _FORMS[key](text.text) if key in _FORMS else ""
            if fault:
                description = f"{text.text[:_SHOWN]!r} {fault}"
                return (
                    description,
                    "write a value that Flux and Argo CD accept",
                    "registration-text",
                )
    return None


def _is_free(text: _Text) -> bool:
    """Whether a text is a value of `manifests` without a required form, such as text for people."""
    match text.path:
        case ("spec", "deploymentTargets", int(), "manifests", key):
            return not text.is_key and key not in _FORMS
    return False


def _control(text: str) -> str:
    """Return the first character that must not be in a line, or ""."""
    if text.isprintable():
        return ""
    return next((char for char in text if unicodedata.category(char) in _NOT_IN_LINES), "")


def _name(text: _Text) -> str:
    steps = ".".join(str(step)[:_SHOWN] for step in text.path)
    return f"the key {steps!r}" if text.is_key else steps
