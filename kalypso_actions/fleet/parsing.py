"""A document → its resource, or all problems with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kalypso_actions.errors import Finding, KalypsoError, Level, Problem, leveled
from kalypso_actions.fleet import schemas
from kalypso_actions.fleet.known_kinds import CREATED_BY_OPERATOR, KINDS, ignored_kind, unknown_kind
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Path, Reading
from kalypso_actions.model.kubernetes_names import (
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_actions.model.nearest import character_advice, misspelled, nearest
from kalypso_actions.model.promotion_policy import (
    POLICY_FILE,
    POLICY_KIND,
    PolicyReading,
    PromotionPolicy,
)
from kalypso_actions.model.source_forms import folder_fault
from kalypso_actions.model.urls import normal_url, split

URL_SECRET: Final = "repository-url-secret"  # noqa: S105 - the code of a problem
URL_INVALID: Final = "repository-url-invalid"
URL_WITH_SECRET: Final = re.compile(
    r"\w://(?:[^/\s:@]*:(?![$<{%*]|x+@)[^/\s@{}]+|(?:gh[pousr]_|github_pat_|glpat-)[^/\s@]*)@"
)
BARE_URL: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/[\w.-]+/[\w.-]+")


@dataclass(slots=True)
class Diagnostics:
    """Problems, warnings and notes about documents, in order.

    A note describes something that may be intended.
    """

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, with their levels."""
        found = self._by_level.items()
        return tuple(item for level, each in found for item in leveled(each, level))

    def add(self, finding: Finding) -> None:
        """Add a finding by its level."""
        self._by_level[finding.level].append(finding)

    @property
    def _by_level(self) -> dict[Level, list[Problem]]:
        return {"error": self.problems, "warning": self.warnings, "note": self.notes}


_Models = tuple[type[BaseModel], ...]

_PREFIX: Final = "kalypso.io/"

SOPS: Final = "sops"
"""The key that SOPS adds to a file that it encrypts: https://getsops.io/docs/"""

_OF_ALL_KINDS: Final = (kinds.IGNORE_ANNOTATION, kinds.IGNORE_REASON_ANNOTATION)

_OF_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Environment": (
        kinds.FIRST_ENVIRONMENT_ANNOTATION,
        kinds.NEXT_ENVIRONMENT_ANNOTATION,
        "kalypso.io/scheduler",
    ),
    "SchedulingPolicy": ("kalypso.io/placement", "kalypso.io/placement-scope"),
    "ClusterType": (
        kinds.CLUSTERS_ANNOTATION,
        kinds.COMPLIANCE_ANNOTATION,
        "kalypso.io/taints",
        "kalypso.io/cluster-sets",
        "kalypso.io/allocatable",
        "kalypso.io/capacity",
        kinds.MANIFESTS_ANNOTATION,
    ),
    "Template": (
        kinds.ENGINE_ANNOTATION,
        kinds.DOCUMENTS_FROM_ANNOTATION,
        kinds.MANIFESTS_ANNOTATION,
    ),
    "Workload": (kinds.FOREIGN_ENVIRONMENTS_ANNOTATION,),
}

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    kinds.FIRST_ENVIRONMENT_ANNOTATION: ("true", "false"),
    kinds.COMPLIANCE_ANNOTATION: ("none",),
    kinds.MANIFESTS_ANNOTATION: ("any",),
}


def parse_document(document: Document, diagnostics: Diagnostics) -> object | None:
    """Build the resource of a document; return None and add the reasons if it is invalid."""
    model = _model_of(document, diagnostics)
    if model is None:
        return None
    # A misspelled field often explains a missing one, so warnings come first.
    diagnostics.warnings.extend(_unread_values(document))
    body = {key: value for key, value in document.body.items() if key != SOPS}
    diagnostics.warnings.extend(_unknown_fields(document, model, body, ()))
    diagnostics.warnings.extend(_annotation_faults(document))
    diagnostics.warnings.extend(_url_warnings(document))
    faults = [*_name_faults(document), *_label_faults(document), *_url_faults(document)]
    try:
        resource = model.model_validate(document.body)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        problems = (_problem(document, details) for details in errors)
        diagnostics.problems.extend((*problems, *faults))
        return None
    diagnostics.problems.extend(faults)
    return None if faults else resource.build(document)


def promotion_policy(documents: Sequence[Document], faults: Sequence[Problem]) -> PolicyReading:
    """Return the policy of an environment, or all reasons why nothing may enter it.

    `documents` are those of the policy's file, and policies in other files of its folder; `faults`
    are those of the file. An unknown field is a problem: a misspelled one would let commits in.
    """
    diagnostics = Diagnostics(problems=list(faults))
    policies: list[object] = []
    for document in documents:
        is_read = document.where.path.endswith(POLICY_FILE) and document.kind == POLICY_KIND
        if not is_read:
            diagnostics.problems.append(_misplaced_policy(document))
        elif policies:
            message = f"{POLICY_KIND} {document.name!r} is the second one of the file"
            problem = Problem(message, document.where, "keep one", "object-duplicate")
            diagnostics.problems.append(problem)
        else:
            policies.append(parse_document(document, diagnostics))
    problems = (*diagnostics.problems, *diagnostics.warnings)
    policy = next((each for each in policies if isinstance(each, PromotionPolicy)), None)
    return PolicyReading(None, problems) if problems else PolicyReading(policy)


def _misplaced_policy(document: Document) -> Problem:
    what = f"{document.kind} {document.name!r}".strip()
    message = f"{what} is not read: the policy is one {POLICY_KIND} in {POLICY_FILE}"
    path = document.where.path
    advice = f"move it to {POLICY_FILE}"
    if document.kind == POLICY_KIND and not path.endswith(POLICY_FILE):
        folder = path.removesuffix(path.rpartition("/")[2])
        own = folder.removesuffix(POLICY_FILE.rpartition("/")[0] + "/") + POLICY_FILE
        advice = f"rename the file: git mv {path} {own}"
    elif document.kind != POLICY_KIND:
        advice = f"write kind: {POLICY_KIND}, or move it to another folder"
    return Problem(message, document.where, advice, POLICY_MISPLACED)


POLICY_MISPLACED: Final = "policy-misplaced"
"""The code of a policy that nothing reads."""


def template_may_exist(name: str, readings: Iterable[Reading]) -> bool:
    """Whether a Template may exist, in a faulty document or an unreadable file.

    Another problem reports the fault; a problem about a missing Template could be wrong.
    """
    return any(
        reading.problems
        or any(
            document.name == name and nearest(document.kind, ("Template",))
            for document in reading.documents
        )
        for reading in readings
    )


def _model_of(document: Document, diagnostics: Diagnostics) -> type[schemas.Resource] | None:
    kind, api_version = document.kind, document.api_version
    group = schemas.KALYPSO_API.partition("/")[0]
    model = KINDS.get(kind)
    if model is not None and api_version in {model.API_VERSION, ""}:
        return model
    given = api_version.partition("/")[0]
    is_meant = given in {group, "kalypso.io"} or misspelled(given, (group,))
    if model is not None and (is_meant or kind == "ConfigMap"):
        message = f"{kind} has apiVersion {api_version!r}"
        advice = f"write apiVersion: {model.API_VERSION}"
        where = document.at("apiVersion")
        diagnostics.problems.append(Problem(message, where, advice, "api-version-wrong"))
    elif given == group and kind in CREATED_BY_OPERATOR:
        diagnostics.warnings.append(ignored_kind(document))
    elif given == group or (api_version == schemas.CORE_API and misspelled(kind, ("ConfigMap",))):
        diagnostics.problems.append(unknown_kind(document))
    else:
        diagnostics.warnings.append(ignored_kind(document))
    return None


def _problem(document: Document, details: ErrorDetails) -> Problem:
    path = details["loc"]
    dotted = ".".join(str(step) for step in path)
    value, advice = details["input"], ""
    match details["type"]:
        case "missing":
            fault = "is missing"
        case "string_type":
            fault = f"must be a text, but it is {_describe(value)}"
            advice = "write it in quotes"
            if isinstance(value, dict | list):
                key = path[-1] if path else 0
                is_field = isinstance(key, str)
                advice = f"write {key}: | to make the lines below it a text" if is_field else ""
            if value is None:
                advice = 'write a text, or "" for an empty one; a # begins a comment: write "#…"'
        case "dict_type" | "model_type" | "model_attributes_type":
            fault = f"must be a mapping, but it is {_describe(value)}"
            if isinstance(value, list) and value and all(isinstance(it, dict) for it in value):
                advice = "remove the dashes before its keys"
        case "list_type":
            fault = f"must be a list, but it is {_describe(value)}"
        case _:
            fault = details["msg"]
    subject = f"{document.kind} {document.name!r}" if document.name else document.kind
    message = f"{subject}: {dotted} {fault}"
    return Problem(message, document.at(*path), advice, "field-invalid")


def _describe(value: object) -> str:
    match value:
        case None:
            return "empty"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:60]!r}"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _unread_values(document: Document) -> Iterator[Problem]:
    """Warn about values that arrive encrypted, or not at all."""
    subject = f"{document.kind} {document.name!r}"
    match document.body:
        case {"metadata": {"labels": {kinds.PLATFORM_CONFIG_LABEL: "true"}}}:
            is_config = True
        case _:
            is_config = False
    if document.kind == "ConfigMap" and not is_config:
        return
    if SOPS in document.body:
        message = f"{subject} is encrypted with SOPS: its values arrive encrypted"
        advice = (
            "commit it in plain text, and keep secrets where the application reads them: name a "
            "Secret in the Template"
        )
        yield Problem(message, document.key_at(SOPS), advice, "values-encrypted")
    binary = document.body.get("binaryData")
    if document.kind == "ConfigMap" and isinstance(binary, dict) and binary:
        message = f"{subject}: binaryData is not read: {', '.join(map(str, binary))}"
        advice = "write the values as texts under data"
        yield Problem(message, document.key_at("binaryData"), advice, "config-binary-data")


def _name_faults(document: Document) -> Iterator[Problem]:
    """Report invalid names; pydantic reports names that are not strings."""
    match document.body:
        case {"metadata": {"name": str(name)}} if fault := object_name_fault(name):
            where = document.at("metadata", "name")
            message = f"{document.kind}: the name {name!r} {fault}"
            yield Problem(message, where, character_advice(name), "name-invalid")
        # In a GitOps repository, `dev.edge` would also share its branch with the GitOpsRepo `edge`
        # of the environment `dev`.
        case {"kind": "Environment", "metadata": {"name": str(name)}} if fault := dns_label_fault(
            name
        ):
            where = document.at("metadata", "name")
            message = f"Environment: the name {name!r} becomes a namespace and {fault}"
            advice = f"write {name.replace('.', '-')}" if "." in name else "choose a shorter one"
            yield Problem(message, where, advice, "name-invalid")
    match document.body:
        case {"kind": "WorkloadRegistration", "spec": {"workspace": str(workspace)}} if (
            fault := label_value_fault(workspace)
        ):
            yield Problem(
                f"WorkloadRegistration {document.name!r}: the workspace {workspace!r} becomes a "
                f"label's value and {fault}",
                document.at("spec", "workspace"),
                code="label-invalid",
            )


def _label_faults(document: Document) -> Iterator[Problem]:
    """Report labels that the Kubernetes API would refuse."""
    for path, labels in _labels_of(document.body):
        for key, value in labels.items():
            key_fault = label_key_fault(key)
            value_fault = label_value_fault(value) if isinstance(value, str) else ""
            if not (key_fault or value_fault):
                continue
            subject = f"{document.kind} {document.name!r}"
            if key_fault:
                message = f"{subject}: the label key {key!r} {key_fault}"
                where, advice = document.key_at(*path, key), character_advice(key)
                yield Problem(message, where, advice, "label-invalid")
            if value_fault:
                shown = f" is {value!r}; it" if not str(value).isascii() else ""
                message = f"{subject}: the value of label {key!r}{shown} {value_fault}"
                where, advice = document.at(*path, key), character_advice(value)
                yield Problem(message, where, advice, "label-invalid")


def _url_faults(document: Document) -> Iterator[Problem]:
    """Report a GitOpsRepo whose `repo` is not the URL of a repository but, say, a placeholder."""
    match document.body:
        case {"kind": "GitOpsRepo", "spec": {"repo": str(repo)}}:
            fault = _url_fault(repo)
            if fault:
                yield Problem(
                    f"GitOpsRepo {document.name!r}: spec.repo: {fault.message}",
                    document.at("spec", "repo"),
                    fault.advice or "write its URL, such as https://github.com/OWNER/NAME",
                    URL_SECRET if URL_WITH_SECRET.search(repo) else URL_INVALID,
                )


_PAGE: Final = re.compile(
    r"(https?://[^/@\s]+(?:/[^/\s]+){2,}?)(?:/-)?/(?:tree|blob)/([^\s?#]+)\S*"
)
"""The address of a branch's folder or file in a browser, on GitHub or GitLab."""


def _url_warnings(document: Document) -> Iterator[Problem]:
    """Warn of passwords and tokens in URLs, of repositories without a scheme, and of no paths.

    The values of ConfigMaps have their own check. The URL of a GitOpsRepo is an error.
    """
    if document.kind == "ConfigMap":
        return
    match document.body:
        case {"kind": "DeploymentTarget", "spec": {"manifests": {"path": str(folder)}}} if (
            fault := folder_fault(folder)
        ):
            yield Problem(
                f"DeploymentTarget {document.name!r}: spec.manifests.path {folder!r} {fault}",
                document.at("spec", "manifests", "path"),
                "write folders with /, such as ./deploy",
                "registration-text",
            )
    for path, text in _texts_of(document.body, ()):
        is_repository = path[-1:] == ("repo",) and "manifests" not in path
        page = _PAGE.fullmatch(text) if is_repository else None
        if page:
            yield Problem(
                f"{document.kind} {document.name!r}: {'.'.join(map(str, path))} is the address of "
                "a page, not the URL of a repository",
                document.at(*path),
                f"write {page[1]}; {page[2]} belongs into branch and path",
                URL_INVALID,
            )
        if document.kind == "GitOpsRepo" and path == ("spec", "repo"):
            continue
        if URL_WITH_SECRET.search(text):
            yield Problem(
                f"{document.kind} {document.name!r}: {'.'.join(map(str, path))} has a URL with a "
                "password or token: everyone who reads the repository gets it",
                document.at(*path),
                "revoke it, remove it from the URL, and pass it in git-credentials",
                URL_SECRET,
            )
        elif is_repository and BARE_URL.match(text):
            yield Problem(
                f"{document.kind} {document.name!r}: {'.'.join(map(str, path))} is no URL of a "
                f"repository: {text}",
                document.at(*path),
                "begin it with https://",
                URL_INVALID,
            )


def _texts_of(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield path, value
        case Mapping():
            for key, inner in value.items():
                yield from _texts_of(inner, (*path, key))
        case list():
            for index, inner in enumerate(value):
                yield from _texts_of(inner, (*path, index))


def _url_fault(url: str) -> Problem | None:
    """Return the problem of a text that is not a repository's URL; tests may give a folder."""
    if split(url).scheme == "file" and "/" in url and not set(url) & set(" \t\n"):
        return None
    try:
        normal_url(url)
    except KalypsoError as error:
        return error.problem
    return None


def _labels_of(body: Mapping[str, object]) -> Iterator[tuple[Path, Mapping[str, object]]]:
    match body:
        case {"metadata": {"labels": dict(labels)}}:
            yield ("metadata", "labels"), labels
    match body:
        case {"kind": "Workload", "spec": {"deploymentTargets": list(targets)}}:
            for index, target in enumerate(targets):
                match target:
                    case {"labels": dict(labels)}:
                        yield ("spec", "deploymentTargets", index, "labels"), labels


def _unknown_fields(
    document: Document, model: type[BaseModel], body: object, path: Path
) -> Iterator[Problem]:
    """Warn about each unknown field, and suggest the closest known one."""
    if not isinstance(body, dict):
        return
    known = _known_fields(model)
    for key, value in body.items():
        if key not in known:
            near = _elsewhere(str(key), known, path) or nearest(str(key), known)
            meant = f"did you mean {near}?" if near else ""
            dotted = ".".join(map(str, (*path, key)))
            yield Problem(
                f"{document.kind} {document.name!r}: unknown field {dotted}",
                document.key_at(*path, key),
                character_advice(key) or meant,
                "field-unknown",
            )
            continue
        for nested in known[key]:
            if isinstance(value, list):
                for index, item in enumerate(value):
                    yield from _unknown_fields(document, nested, item, (*path, key, index))
            else:
                yield from _unknown_fields(document, nested, value, (*path, key))


def _elsewhere(key: str, known: Mapping[str, _Models], path: Path) -> str:
    """Return the right place of a field that is one level too high or in the wrong mapping."""
    if path == ("spec",) and key in ("labels", "annotations"):
        return f"metadata.{key}"
    for name, models in known.items():
        if any(key in _known_fields(model) for model in models):
            return f"{name}.{key}"
    return ""


@cache
def _known_fields(model: type[BaseModel]) -> Mapping[str, _Models]:
    """Return the models of the values of each field."""
    return {
        field.alias or name: tuple(_models_in(field.annotation))
        for name, field in model.model_fields.items()
    }


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _annotation_faults(document: Document) -> Iterator[Problem]:
    """Warn about annotations without effect: misspelled, on the wrong kind, or among labels."""
    own = (*_OF_KINDS.get(document.kind, ()), *_OF_ALL_KINDS)
    subject = f"{document.kind} {document.name!r}"
    for key, value in _texts(document, "annotations").items():
        if key in own:
            if key == kinds.CLUSTERS_ANNOTATION and isinstance(value, str):
                yield from _cluster_faults(document, value)
            allowed = _VALUES.get(key, ())
            if allowed and isinstance(value, str) and value.strip() not in allowed:
                yield Problem(
                    f"{subject}: the annotation {key} has no effect with the value {value!r}",
                    document.at("metadata", "annotations", key),
                    f"write {' or '.join(map(repr, allowed))}",
                    "annotation-value-unknown",
                )
        elif advice := _annotation_advice(key, own):
            message = f"{subject}: the annotation {key} has no effect"
            where = document.key_at("metadata", "annotations", key)
            yield Problem(message, where, advice, "annotation-unknown")
    for key in _texts(document, "labels"):
        if key in own:
            yield Problem(
                f"{subject}: {key} is an annotation, but is among the labels",
                document.key_at("metadata", "labels", key),
                "move it to metadata.annotations",
                "annotation-unknown",
            )


_CLUSTER: Final = re.compile(r"[\w.:/@-]+")
"""The names of clusters in reports, also with the form of a resource's id."""


def _cluster_faults(document: Document, value: str) -> Iterator[Problem]:
    """Warn about a list of clusters that nobody waits for, or that names one twice."""
    names = [name.lower() for name in value.replace(",", " ").split()]
    twice = sorted({name for name in names if names.count(name) > 1})
    odd = [name for name in names if not _CLUSTER.fullmatch(name)]
    fault = advice = ""
    compliance = _texts(document, "annotations").get(kinds.COMPLIANCE_ANNOTATION)
    if isinstance(compliance, str) and compliance.strip() == "none":
        fault = f"has no effect: with {kinds.COMPLIANCE_ANNOTATION}: none, nobody waits for them"
        advice = f"remove the annotation {kinds.COMPLIANCE_ANNOTATION}"
    elif not names:
        fault, advice = "names no cluster: none is expected to report", "name them, or remove it"
    elif odd:
        fault, advice = (
            f"names {odd[0]!r}, which is no cluster",
            "write the names alone, with commas between them",
        )
    elif twice:
        fault, advice = f"names {', '.join(twice)} twice", "name each cluster once"
    if fault:
        yield Problem(
            f"ClusterType {document.name!r}: the annotation {kinds.CLUSTERS_ANNOTATION} {fault}",
            document.at("metadata", "annotations", kinds.CLUSTERS_ANNOTATION),
            advice,
            "annotation-value-unknown",
        )


def _annotation_advice(key: str, own: tuple[str, ...]) -> str:
    """Return advice on an annotation without effect; "" for one that is not Kalypso's."""
    prefix, _, name = key.rpartition("/")
    names = {item.removeprefix(_PREFIX) for item in own}
    if not key.startswith(_PREFIX):
        is_meant = name in names and _is_near(prefix)
        return f"did you mean {_PREFIX}{name}?" if is_meant else ""
    readers = [kind for kind, names in _OF_KINDS.items() if key in names]
    if readers:
        return f"it belongs to {' and '.join(readers)} objects: move it there"
    close = nearest(name, sorted(names))
    return (
        f"did you mean {_PREFIX}{close}?"
        if close
        else f"annotations of this kind: {', '.join(own)}"
    )


def _is_near(prefix: str) -> bool:
    return not prefix or bool(nearest(prefix, ("kalypso.io", "scheduler.kalypso.io")))


def _texts(document: Document, field: str) -> Mapping[str, object]:
    """Return the labels or annotations of a document, without keys that are not strings."""
    match document.body:
        case {"metadata": dict(metadata)}:
            texts = metadata.get(field)
            if isinstance(texts, Mapping):
                return {key: value for key, value in texts.items() if isinstance(key, str)}
    return {}
