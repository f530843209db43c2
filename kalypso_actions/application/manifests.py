"""Check the manifests that a generator made for a target."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from kalypso_actions.application.helm import ChartPlace
from kalypso_actions.application.rendered_lines import TemplateLines
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import Findings
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.sources.yaml_documents import parse_yaml

SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
HOOK_ANNOTATION: Final = "helm.sh/hook"
SECRET_NAME: Final = re.compile(r"PASSW(OR)?D|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY", re.IGNORECASE)
ENCRYPTED: Final = re.compile(r"^(ENC\[|Ag[A-Za-z0-9+/]{40})")
"""Values of SOPS and of Sealed Secrets."""


TOO_LARGE: Final = "look for a loop, or divide the target"

SchemaErrors = Callable[[Mapping[str, object]], Iterable[tuple[Path, str]]]


@dataclass(frozen=True, slots=True)
class ManifestRules:
    """The namespace of a target's objects ("" for any), and globs of other allowed namespaces.

    `schema_errors` yields the path and message of each fault that Kubernetes' schemas find, or
    raises KeyError for a kind without a schema. If the rules are not `strict`, as with upstream's
    bytes, refusals are only warnings.
    """

    namespace: str = ""
    allowed_namespaces: tuple[str, ...] = ()
    schema_errors: SchemaErrors | None = None
    strict: bool = True


@dataclass(frozen=True, slots=True)
class CheckedManifests:
    """The objects of a file, their images, and the findings."""

    documents: tuple[Document, ...]
    images: tuple[str, ...]
    findings: Findings


def check_manifests(
    where: Location, content: bytes, rules: ManifestRules, chart: ChartPlace | None = None
) -> CheckedManifests:
    """Parse generated manifests and check them.

    `where` is the generated file. With a chart, findings are located in the template that made the
    object, if helm names it.
    """
    check = _Check(where, content.decode("utf-8", "replace"), rules, chart)
    parsed = parse_yaml(where.repository, where.path, content)
    for problem in parsed.problems:
        place = check.at_line(problem.where.line) if problem.where else where
        advice = problem.advice if problem.where and problem.where.line else TOO_LARGE
        fault = Problem(problem.message, place, advice, "manifest-invalid")
        check.findings.problems.append(fault)
    for document in parsed.documents:
        check.document(document)
    return CheckedManifests(parsed.documents, tuple(sorted(check.images)), check.findings)


@dataclass(slots=True)
class _Check:
    where: Location
    text: str
    rules: ManifestRules
    chart: ChartPlace | None
    findings: Findings = field(default_factory=Findings)
    images: set[str] = field(default_factory=set)
    _known: dict[tuple[str, ...], Location] = field(default_factory=dict)
    _templates: dict[str, TemplateLines] = field(default_factory=dict)
    _rows: Sequence[str] = ()
    _sources: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = self.text.split("\n")
        for number, row in enumerate(self._rows, start=1):
            match = SOURCE.match(row.rstrip("\r"))
            if match:
                self._sources.append((number, match[1]))

    def document(self, document: Document) -> None:
        """Check one object."""
        missing = [
            name
            for name, value in (
                ("apiVersion", document.api_version),
                ("kind", document.kind),
                ("metadata.name", document.name or _generated_name(document)),
            )
            if not value
        ]
        if missing:
            message = f"the object has no {' and no '.join(missing)}"
            advice = "complete the manifest"
            self._refuse(Problem(message, self.at(document), advice, "manifest-incomplete"))
            return
        self._check_duplicate(document)
        self._check_namespace(document)
        self._check_secrets(document)
        annotations = _mapping(_mapping(document.body.get("metadata")).get("annotations"))
        if HOOK_ANNOTATION in annotations:
            message = f"{_title(document)} is a hook of helm ({annotations[HOOK_ANNOTATION]})"
            advice = "Flux applies it with all other objects; leave hooks out with hooks: false"
            problem = Problem(message, self.at(document), advice, "manifest-hook")
            self.findings.notes.append(problem)
        self._check_schema(document)
        for path, image in _images(document.body):
            self._check_image(document, path, image)

    def at(self, document: Document, *path: str | int) -> Location:
        """Return the place of a value of an object."""
        return self.at_line(document.at(*path).line)

    def at_line(self, line: int) -> Location:
        """Return the line of the template that printed an output line, else the output line."""
        own = Location(self.where.repository, self.where.path, line)
        index = bisect_right(self._sources, (line, "\U0010ffff")) - 1
        if self.chart is None or index < 0:
            return own
        path = self.chart.own_path(self._sources[index][1])
        if not path:
            return own
        row = self._rows[line - 1] if 0 < line <= len(self._rows) else ""
        if path not in self._templates:
            text = self.chart.files[path].decode("utf-8", "replace")
            self._templates[path] = TemplateLines(text)
        return self.chart.at(path, self._templates[path].find(row))

    def _check_duplicate(self, document: Document) -> None:
        namespace = str(_mapping(document.body.get("metadata")).get("namespace") or "")
        group = document.api_version.rpartition("/")[0]
        key = (group, document.kind, namespace or self.rules.namespace, document.name)
        place = self.at(document, "metadata", "name")
        if document.name and key in self._known:
            message = f"{_title(document)} is made twice, also by {self._known[key]}"
            advice = "remove or rename one of them"
            self._refuse(Problem(message, place, advice, "manifest-duplicate"))
        self._known.setdefault(key, place)

    def _check_namespace(self, document: Document) -> None:
        namespace = _mapping(document.body.get("metadata")).get("namespace")
        if not isinstance(namespace, str) or not self.rules.namespace:
            return
        allowed = (self.rules.namespace, *self.rules.allowed_namespaces)
        if not any(fnmatchcase(namespace, pattern) for pattern in allowed):
            message = f"{_title(document)} is in the namespace {namespace!r}, not in "
            message += repr(self.rules.namespace)
            place = self.at(document, "metadata", "namespace")
            advice = "leave the namespace out, or allow it with allowed-namespaces"
            self._refuse(Problem(message, place, advice, "manifest-namespace"))

    def _check_schema(self, document: Document) -> None:
        if self.rules.schema_errors is None:
            return
        try:
            for path, fault in self.rules.schema_errors(document.body):
                message = f"{_title(document)}: {'.'.join(map(str, path)) or 'object'}: {fault}"
                place = self.at(document, *path)
                advice = "correct the template, or the values that it reads"
                self._refuse(Problem(message, place, advice, "manifest-schema"))
        except KeyError:
            message = f"there is no schema of {document.api_version} {document.kind}"
            place, advice = self.at(document), "only kinds of Kubernetes itself are checked"
            self.findings.notes.append(Problem(message, place, advice, "manifest-without-schema"))

    def _check_image(self, document: Document, path: Path, image: str) -> None:
        if image in self.images:
            return
        self.images.add(image)
        if "@sha256:" not in image:
            message = f"the image {image} is named by a tag, which can move to another image"
            advice = "name it by digest: image@sha256:…"
            problem = Problem(message, self.at(document, *path), advice, "image-without-digest")
            self.findings.notes.append(problem)

    def _check_secrets(self, document: Document) -> None:
        """Warn of secrets that everybody with access to the repository can read."""
        if document.kind == "Secret" and "sops" not in document.body:
            for name in ("stringData", "data"):
                for key, value in _mapping(document.body.get(name)).items():
                    if isinstance(value, str) and value and not ENCRYPTED.match(value):
                        place = self.at(document, name, str(key))
                        self._warn_of_secret(f"{_title(document)} has the key {key!r}", place)
                        return
        for path, variable in _variables(document.body):
            variable_name, text = variable.get("name"), variable.get("value")
            if (
                isinstance(variable_name, str)
                and SECRET_NAME.search(variable_name)
                and text not in (None, "")
            ):
                place = self.at(document, *path, "value")
                self._warn_of_secret(
                    f"{_title(document)} has the variable {variable_name!r}", place
                )

    def _warn_of_secret(self, subject: str, place: Location) -> None:
        message = f"{subject} in plain text: everybody who reads the repository knows it"
        advice = "use an ExternalSecret, a SealedSecret, or SOPS"
        self.findings.warnings.append(Problem(message, place, advice, "secret-in-plain-text"))

    def _refuse(self, problem: Problem) -> None:
        findings = self.findings
        (findings.problems if self.rules.strict else findings.warnings).append(problem)


def _title(document: Document) -> str:
    return f"{document.kind} {document.name!r}"


def _generated_name(document: Document) -> object:
    return _mapping(document.body.get("metadata")).get("generateName")


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _containers(value: object, path: Path = ()) -> Iterator[tuple[Path, Mapping[object, object]]]:
    """Yield the containers anywhere in an object: in pods, and in templates of pods."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            step = (*path, str(key))
            if key in CONTAINERS and isinstance(inner, list):
                for index, container in enumerate(inner):
                    yield (*step, index), _mapping(container)
            else:
                yield from _containers(inner, step)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _containers(inner, (*path, index))


def _images(body: object) -> Iterator[tuple[Path, str]]:
    for path, container in _containers(body):
        image = container.get("image")
        if isinstance(image, str) and image:
            yield (*path, "image"), image


def _variables(body: object) -> Iterator[tuple[Path, Mapping[object, object]]]:
    for path, container in _containers(body):
        variables = container.get("env")
        for index, variable in enumerate(variables if isinstance(variables, list) else ()):
            yield (*path, "env", index), _mapping(variable)
