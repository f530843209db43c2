"""A document → its resource, or all problems with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kalypso_actions.errors import Diagnostics, KalypsoError, Problem
from kalypso_actions.fleet import schemas
from kalypso_actions.fleet.promotion_policy import PromotionPolicyResource
from kalypso_actions.model import kinds
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Document, Path, Reading
from kalypso_actions.model.kubernetes_names import (
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_actions.model.layout import PLACEMENTS_FOLDER
from kalypso_actions.model.nearest import character_advice, misspelled, nearest
from kalypso_actions.model.placements import PLACEMENT_GROUP
from kalypso_actions.model.promotion_policy import (
    POLICY_FILE,
    POLICY_KIND,
    PolicyReading,
    PromotionPolicy,
)
from kalypso_actions.model.source_forms import folder_fault
from kalypso_actions.model.urls import normal_url, split

KINDS: Final[Mapping[str, type[schemas.Resource]]] = {
    "Environment": schemas.EnvironmentResource,
    "BaseRepo": schemas.BaseRepoResource,
    "GitOpsRepo": schemas.GitOpsRepoResource,
    "ClusterType": schemas.ClusterTypeResource,
    "SchedulingPolicy": schemas.SchedulingPolicyResource,
    "ConfigMap": schemas.ConfigMapResource,
    "ConfigSchema": schemas.ConfigSchemaResource,
    "Template": schemas.TemplateResource,
    "WorkloadRegistration": schemas.WorkloadRegistrationResource,
    "Workload": schemas.WorkloadResource,
    "DeploymentTarget": schemas.DeploymentTargetResource,
    POLICY_KIND: PromotionPolicyResource,
}

CREATED_BY_OPERATOR = frozenset({"Assignment", "AssignmentPackage"})


URL_SECRET: Final = "repository-url-secret"  # noqa: S105 - the code of a problem
URL_INVALID: Final = "repository-url-invalid"
URL_WITH_SECRET: Final = re.compile(
    r"\w://(?:[^/\s:@]*:(?![$<{%*]|x+@)[^/\s@{}]+|(?:gh[pousr]_|github_pat_|glpat-)[^/\s@]*)@"
)
BARE_URL: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/[\w.-]+/[\w.-]+")


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


class _Fault(NamedTuple):
    """What is wrong at a path of a document's body, or at the key there.

    A character in `text` that is not meant explains the fault better than the advice.
    """

    path: Path
    message: str
    advice: str
    code: str
    is_of_key: bool = False
    text: object = ""


def _placed(document: Document, faults: Iterable[_Fault], subject: str = "") -> Iterator[Problem]:
    """Yield faults as problems of a document, or of a `subject`."""
    for fault in faults:
        where = (document.key_at if fault.is_of_key else document.at)(*fault.path)
        advice = character_advice(fault.text) or fault.advice
        yield Problem(f"{subject or document}: {fault.message}", where, advice, fault.code)


def parse_document(document: Document, diagnostics: Diagnostics) -> object | None:
    """Build the resource of a document; return None and add the reasons if it is invalid."""
    model = _model_of(document, diagnostics)
    if model is None:
        return None
    kind, body = document.kind, document.body
    if SOPS in body:
        diagnostics.warnings.extend(_encrypted(document))
        body = {key: value for key, value in body.items() if key != SOPS}
    # A misspelled field often explains a missing one, so warnings come first.
    warnings = chain(
        _unread_values(kind, body),
        _unknown_fields(model, body, ()),
        _annotation_faults(kind, body),
        _url_warnings(kind, body),
    )
    diagnostics.warnings.extend(_placed(document, warnings))
    others = chain(_workspace_faults(body), _label_faults(body), _url_faults(body))
    faults = [*_placed(document, _name_faults(kind, body), kind), *_placed(document, others)]
    try:
        resource = model.model_validate(document.body)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        problems = (_problem(document, details) for details in errors)
        diagnostics.problems.extend((*problems, *faults))
        return None
    diagnostics.problems.extend(faults)
    return None if faults else resource.build(document)


Kind = TypeVar("Kind")


def resources_of(kind: type[Kind], documents: Iterable[Document]) -> Iterator[Kind]:
    """Yield the valid resources of a kind of `model.kinds`, such as Environment."""
    for document in documents:
        if document.kind == kind.__name__:
            resource = parse_document(document, Diagnostics())
            if isinstance(resource, kind):
                yield resource


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
    what = str(document).strip()
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


def ignored_kind(document: Document) -> Problem:
    """Return the warning about a document that is of no kind of Kalypso."""
    message = f"{document} is not a kind of Kalypso; it is ignored"
    advice = _meant_kind(document.kind, document.api_version)
    return Problem(message, document.where, advice, "kind-ignored")


def _meant_kind(kind: str, api_version: str) -> str:
    """Suggest a correction of an ignored document, or else the place where it belongs."""
    if kind == "Secret":
        return "revoke its values, store them elsewhere, and remove the document: Git keeps it"
    if api_version.startswith(PLACEMENT_GROUP):
        return f"move it to {PLACEMENTS_FOLDER} of the environment's branch"
    if kind in KINDS:
        field, text, known = "apiVersion", api_version, [KINDS[kind].API_VERSION]
    else:
        field, text = "kind", kind
        known = [name for name, each in KINDS.items() if api_version == each.API_VERSION]
    near = nearest(text, known)
    default = "keep it elsewhere, or list its file in .sourceignore"
    return f"did you mean {field}: {near}?" if near else default


def unknown_kind(document: Document) -> Problem:
    """Return the problem of a kind of Kalypso that does not exist; suggest the closest one."""
    near = nearest(document.kind, KINDS)
    advice = f"did you mean {near}?" if near else f"known kinds: {', '.join(KINDS)}"
    where = document.at("kind")
    effect = _missing_targets(document) if near == "Workload" else ""
    return Problem(f"unknown kind {document.kind!r}{effect}", where, advice, "kind-unknown")


def _missing_targets(document: Document) -> str:
    match document.body:
        case {"spec": {"deploymentTargets": list(targets)}} if targets:
            return f": the fleet lacks its {counted(len(targets), 'deployment target')}"
    return ""


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
    subject = str(document) if document.name else document.kind
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


def _has_values(kind: str, body: Mapping[str, object]) -> bool:
    """Whether somebody reads the values of a document; of ConfigMaps, the platform's alone."""
    match body:
        case {"metadata": {"labels": {kinds.PLATFORM_CONFIG_LABEL: "true"}}}:
            return True
    return kind != "ConfigMap"


def _encrypted(document: Document) -> Iterator[Problem]:
    """Warn about values that arrive encrypted."""
    if _has_values(document.kind, document.body):
        yield Problem(
            f"{document} is encrypted with SOPS: its values arrive encrypted",
            document.key_at(SOPS),
            "commit it in plain text, and keep secrets where the application reads them: name a "
            "Secret in the Template",
            "values-encrypted",
        )


def _unread_values(kind: str, body: Mapping[str, object]) -> Iterator[_Fault]:
    """Warn about values that do not arrive at all."""
    binary = body.get("binaryData") if kind == "ConfigMap" and _has_values(kind, body) else None
    if isinstance(binary, dict) and binary:
        message = f"binaryData is not read: {', '.join(map(str, binary))}"
        advice = "write the values as texts under data"
        yield _Fault(("binaryData",), message, advice, "config-binary-data", is_of_key=True)


def _name_faults(kind: str, body: Mapping[str, object]) -> Iterator[_Fault]:
    """Report invalid names; pydantic reports names that are not strings."""
    path = "metadata", "name"
    match body:
        case {"metadata": {"name": str(name)}} if fault := object_name_fault(name):
            yield _Fault(path, f"the name {name!r} {fault}", "", "name-invalid", text=name)
        # In a GitOps repository, `dev.edge` would also share its branch with the GitOpsRepo `edge`
        # of the environment `dev`.
        case {"metadata": {"name": str(name)}} if kind == "Environment" and (
            fault := dns_label_fault(name)
        ):
            message = f"the name {name!r} becomes a namespace and {fault}"
            advice = f"write {name.replace('.', '-')}" if "." in name else "choose a shorter one"
            yield _Fault(path, message, advice, "name-invalid")


def _workspace_faults(body: Mapping[str, object]) -> Iterator[_Fault]:
    match body:
        case {"kind": "WorkloadRegistration", "spec": {"workspace": str(workspace)}} if (
            fault := label_value_fault(workspace)
        ):
            message = f"the workspace {workspace!r} becomes a label's value and {fault}"
            yield _Fault(("spec", "workspace"), message, "", "label-invalid")


def _label_faults(body: Mapping[str, object]) -> Iterator[_Fault]:
    """Report labels that the Kubernetes API would refuse."""
    for path, labels in _labels_of(body):
        for key, value in labels.items():
            if fault := label_key_fault(key):
                message = f"the label key {key!r} {fault}"
                yield _Fault((*path, key), message, "", "label-invalid", is_of_key=True, text=key)
            if isinstance(value, str) and (fault := label_value_fault(value)):
                shown = f" is {value!r}; it" if not value.isascii() else ""
                message = f"the value of label {key!r}{shown} {fault}"
                yield _Fault((*path, key), message, "", "label-invalid", text=value)


def _url_faults(body: Mapping[str, object]) -> Iterator[_Fault]:
    """Report a GitOpsRepo whose `repo` is not the URL of a repository but, say, a placeholder."""
    match body:
        case {"kind": "GitOpsRepo", "spec": {"repo": str(repo)}} if fault := _url_fault(repo):
            yield _Fault(
                ("spec", "repo"),
                f"spec.repo: {fault.message}",
                fault.advice or "write its URL, such as https://github.com/OWNER/NAME",
                URL_SECRET if URL_WITH_SECRET.search(repo) else URL_INVALID,
            )


_PAGE: Final = re.compile(
    r"(https?://[^/@\s]+(?:/[^/\s]+){2,}?)(?:/-)?/(?:tree|blob)/([^\s?#]+)\S*"
)
"""The address of a branch's folder or file in a browser, on GitHub or GitLab."""


def _url_warnings(kind: str, body: Mapping[str, object]) -> Iterator[_Fault]:
    """Warn of passwords and tokens in URLs, of repositories without a scheme, and of no paths.

    The values of ConfigMaps have their own check. The URL of a GitOpsRepo is an error.
    """
    if kind == "ConfigMap":
        return
    match body:
        case {"kind": "DeploymentTarget", "spec": {"manifests": {"path": str(folder)}}} if (
            fault := folder_fault(folder)
        ):
            yield _Fault(
                ("spec", "manifests", "path"),
                f"spec.manifests.path {folder!r} {fault}",
                "write folders with /, such as ./deploy",
                "registration-text",
            )
    for path, text in _texts_of(body, ()):
        dotted = ".".join(map(str, path))
        is_repository = path[-1:] == ("repo",) and "manifests" not in path
        page = _PAGE.fullmatch(text) if is_repository else None
        if page:
            yield _Fault(
                path,
                f"{dotted} is the address of a page, not the URL of a repository",
                f"write {page[1]}; {page[2]} belongs into branch and path",
                URL_INVALID,
            )
        if kind == "GitOpsRepo" and path == ("spec", "repo"):
            continue
        if URL_WITH_SECRET.search(text):
            yield _Fault(
                path,
                f"{dotted} has a URL with a password or token: everyone who reads the repository "
                "gets it",
                "revoke it, remove it from the URL, and pass it in git-credentials",
                URL_SECRET,
            )
        elif is_repository and BARE_URL.match(text):
            message = f"{dotted} is no URL of a repository: {text}"
            yield _Fault(path, message, "begin it with https://", URL_INVALID)


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


def _unknown_fields(model: type[BaseModel], body: object, path: Path) -> Iterator[_Fault]:
    """Warn about each unknown field, and suggest the closest known one."""
    if not isinstance(body, dict):
        return
    known = _known_fields(model)
    for key, value in body.items():
        place = (*path, key)
        if key not in known:
            near = _elsewhere(str(key), known, path) or nearest(str(key), known)
            message = f"unknown field {'.'.join(map(str, place))}"
            meant = f"did you mean {near}?" if near else ""
            yield _Fault(place, message, meant, "field-unknown", is_of_key=True, text=key)
            continue
        for nested in known[key]:
            if isinstance(value, list):
                for index, item in enumerate(value):
                    yield from _unknown_fields(nested, item, (*place, index))
            else:
                yield from _unknown_fields(nested, value, place)


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


def _annotation_faults(kind: str, body: Mapping[str, object]) -> Iterator[_Fault]:
    """Warn about annotations without effect: misspelled, on the wrong kind, or among labels."""
    own = (*_OF_KINDS.get(kind, ()), *_OF_ALL_KINDS)
    annotations = _texts(body, "annotations")
    for key, value in annotations.items():
        path = "metadata", "annotations", key
        if key in own:
            if key == kinds.CLUSTERS_ANNOTATION and isinstance(value, str):
                yield from _cluster_faults(value, annotations)
            allowed = _VALUES.get(key, ())
            if allowed and isinstance(value, str) and value.strip() not in allowed:
                message = f"the annotation {key} has no effect with the value {value!r}"
                advice = f"write {' or '.join(map(repr, allowed))}"
                yield _Fault(path, message, advice, "annotation-value-unknown")
        elif advice := _annotation_advice(key, own):
            message = f"the annotation {key} has no effect"
            yield _Fault(path, message, advice, "annotation-unknown", is_of_key=True)
    for key in _texts(body, "labels"):
        if key in own:
            message = f"{key} is an annotation, but is among the labels"
            advice, path = "move it to metadata.annotations", ("metadata", "labels", key)
            yield _Fault(path, message, advice, "annotation-unknown", is_of_key=True)


_CLUSTER: Final = re.compile(r"[\w.:/@-]+")
"""The names of clusters in reports, also with the form of a resource's id."""


def _cluster_faults(value: str, annotations: Mapping[str, object]) -> Iterator[_Fault]:
    """Warn about a list of clusters that nobody waits for, or that names one twice."""
    names = [name.lower() for name in value.replace(",", " ").split()]
    twice = sorted({name for name in names if names.count(name) > 1})
    odd = [name for name in names if not _CLUSTER.fullmatch(name)]
    fault = advice = ""
    compliance = annotations.get(kinds.COMPLIANCE_ANNOTATION)
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
        path = "metadata", "annotations", kinds.CLUSTERS_ANNOTATION
        message = f"the annotation {kinds.CLUSTERS_ANNOTATION} {fault}"
        yield _Fault(path, message, advice, "annotation-value-unknown")


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


def _texts(body: Mapping[str, object], field: str) -> Mapping[str, object]:
    """Return the labels or annotations of a document, without keys that are not strings."""
    match body:
        case {"metadata": dict(metadata)}:
            texts = metadata.get(field)
            if isinstance(texts, Mapping):
                return {key: value for key, value in texts.items() if isinstance(key, str)}
    return {}
