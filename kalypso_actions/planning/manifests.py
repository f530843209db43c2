"""Check manifests as kustomize, with which Flux reads them, and as Kubernetes takes them.

`check_manifests` checks one file, of an application's generator or of a Template; both have the
same rules. The checks of an application look at images, hooks, secrets and namespaces, too.
"""

from __future__ import annotations

import base64
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.application import SchemaFault
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.kubernetes_names import (
    DATA_KEY,
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_actions.planning.manifest_references import FLUX_KINDS, Reference, references_of
from kalypso_actions.planning.manifest_values import FREE
from kalypso_actions.planning.renaming import NEW_WORD
from kalypso_actions.planning.template_lines import ACTION, TemplateLines
from kalypso_actions.sources.objects import item_documents
from kalypso_actions.sources.yaml_documents import ParsedFile, parse_yaml, read_text
from kalypso_go import goyaml
from kalypso_go.goyaml.scalars import is_timestamp

if TYPE_CHECKING:
    from kalypso_actions.planning.application.helm import ChartPlace

SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
HOOK_ANNOTATION: Final = "helm.sh/hook"
SECRET_NAME: Final = re.compile(r"PASSW(OR)?D|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY", re.IGNORECASE)
ENCRYPTED: Final = re.compile(r"^(ENC\[|Ag[A-Za-z0-9+/]{40})")
"""Values of SOPS and of Sealed Secrets."""
SEPARATOR: Final = re.compile(r"---(?!\s*(?:#|$))")
SEPARATORS: Final = re.compile(r"(?<=\n)---.*\n")
"""https://github.com/kubernetes-sigs/kustomize/blob/kyaml/v0.21.1/kyaml/kio/byteio_reader.go"""
MAY_DIFFER: Final = re.compile(
    r"[?%!&*<\x00-\x08\x0b-\x1f\x7f-\U0010ffff]|[\[{,]\s*:|:[\]},]|(?i:\.(?:nan|inf)\b)"
    r"|(?:^|[{,\n])[\s-]*(?:[-+.]?\d\S*|(?i:y|yes|true|on|n|no|false|off|null)|~)\s*:"
)
"""Matches what Go's YAML may refuse and libyaml accepts; reading by Go's rules takes longer."""

FORMAT_FAULT: Final = re.compile(
    r"%!(?:\w\((?:[\w.]+=[^)]*|<nil>|MISSING|BADINDEX)\)|\((?:EXTRA [^)]*|NOVERB)\))"
)
"""https://pkg.go.dev/fmt#hdr-Format_errors"""

CHAIN: Final = re.compile(r"(\.Values)?\.([A-Za-z_]\w*(?:\.\w+)*)")
"""The fields that an action of a template reads, of all values or of a part of them."""
MOST_DATA: Final = 1 << 20
"""The most bytes of a ConfigMap or Secret: https://kubernetes.io/docs/concepts/configuration/configmap/"""

VARIABLE: Final = "${"
"""The start of a variable that Flux substitutes when it applies an object."""
BASE64_DATA: Final = ("Secret", "data")
PARENTS_OF_TEXTS: Final = frozenset(
    {
        *("metadata", "labels", "annotations", "matchLabels", "nodeSelector"),
        *("data", "stringData", "selector", "args", "command"),
    }
)
KNOWN: Final = (
    *CONTAINERS,
    *PARENTS_OF_TEXTS,
    *FREE,
    *(
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "namespace",
        "generateName",
        "spec",
        "items",
        "List",
    ),
    *("ConfigMap", "Secret", "Service", "env", "value", "image", "default", "openshift.io"),
    *("%YAML", "%TAG", "timestamp", "merge", "map", "omap", "pairs"),
)
"""The texts that the rules and YAML itself know: no other text has a meaning for a check."""

TOO_LARGE: Final = "look for a loop, or divide the target"

SchemaErrors = Callable[[Mapping[str, object]], Iterable[SchemaFault]]


@dataclass(frozen=True, slots=True)
class ManifestRules:
    """The namespace of a target's objects ("" for any), and globs of other allowed namespaces.

    `schema_errors` yields each fault that schemas find, or raises KeyError for a kind that must
    have a schema and has none. If the rules are not `strict`, as with upstream's
    bytes, refusals are only warnings. `are_of_application` adds the checks of applications.
    """

    namespace: str = ""
    allowed_namespaces: tuple[str, ...] = ()
    schema_errors: SchemaErrors | None = None
    strict: bool = True
    are_of_application: bool = True


def check_manifests(
    where: Location,
    content: bytes,
    rules: ManifestRules,
    sources: ChartPlace | None = None,
    known: dict[tuple[str, ...], Location] | None = None,
    references: list[Reference] | None = None,
) -> tuple[Set[str], Diagnostics]:
    """Check generated manifests as kustomize and Kubernetes read them; return their images, too.

    `where` is the generated file. With sources, findings are located in the template that made the
    object, if helm names it, or in the values that it printed. `known` are the places of the
    objects in other files of the kustomization that Kalypso writes, None for another one.
    `references` gets the references of the objects.
    """
    check = _Check(where, content, rules, sources, known, references)
    parsed = parse_yaml(where.repository, where.path, content)
    for problem in parsed.problems:
        place = check.at_line(problem.where.line) if problem.where else where
        advice = problem.advice if problem.where and problem.where.line else TOO_LARGE
        fault = Problem(problem.message, place, advice, "manifest-invalid")
        check.findings.problems.append(fault)
    for warning in parsed.warnings:
        place = check.at_line(warning.where.line) if warning.where else where
        message = warning.message.partition(", on lines ")[0]  # of the output
        message += ", which kustomize refuses"
        check.refuse(Problem(message, place, "remove one of them", "manifest-invalid"))
    check.separators()
    check.formats()
    if not (parsed.problems or parsed.warnings) and MAY_DIFFER.search(check.text):
        check.read_as_go(parsed)
    for document in parsed.documents:
        check.document(document)
    return check.images, check.findings


@dataclass(slots=True)
class _Check:
    where: Location
    content: bytes
    rules: ManifestRules
    sources: ChartPlace | None
    known: dict[tuple[str, ...], Location] | None
    references: list[Reference] | None
    findings: Diagnostics = field(default_factory=Diagnostics)
    images: set[str] = field(default_factory=set)
    text: str = ""
    _own: dict[tuple[str, ...], Location] = field(default_factory=dict)
    _templates: dict[str, TemplateLines] = field(default_factory=dict)
    _values: Sequence[Document] | None = None
    _rows: Sequence[str] = ()
    _starts: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text = self.content.decode("utf-8", "replace")
        self._rows = self.text.split("\n")
        for number, row in enumerate(self._rows, start=1):
            match = SOURCE.match(row.rstrip("\r"))
            if match:
                self._starts.append((number, match[1]))

    def separators(self) -> None:
        """Refuse documents that begin on the line of their separator, as kustomize does."""
        for number, row in enumerate(self._rows, start=1):
            if number > 1 and SEPARATOR.match(row):
                message = "kustomize reads only a comment behind ---"
                place, advice = self.at_line(number), "begin the document on the next line"
                self.refuse(Problem(message, place, advice, "manifest-invalid"))

    def formats(self) -> None:
        """Refuse what Go's printf prints for an operand of another type, or for a missing one."""
        for number, row in enumerate(self._rows, start=1) if "%!" in self.text else ():
            found = FORMAT_FAULT.search(row)
            if found:
                message = f"printf has printed {found[0]!r}: the verb and the value do not match"
                advice = "write %s or %v for a text, or convert the value, for example by int"
                self.refuse(Problem(message, self.at_line(number), advice, "manifest-format"))

    def read_as_go(self, parsed: ParsedFile) -> None:
        """Refuse what Go's YAML, or its conversion to JSON, refuses and libyaml accepts."""
        text = read_text(self.content, self.where)
        if isinstance(text, Problem):
            return
        text = text.replace("\r\n", "\n")
        documents = iter(parsed.documents)
        line = 0
        for part, separator in zip_longest(SEPARATORS.split(text), SEPARATORS.findall(text)):
            try:
                value = goyaml.parse(part)
            except goyaml.YAMLError as error:
                message = f"kustomize cannot read it: {error.message}"
                advice = "write the value in quotes" if "?" in part else "correct the YAML"
                if "incompatible" in error.message:
                    advice = "remove the line %YAML: kustomize reads version 1.1 alone"
                place = self.at_line(line + max(1, error.line))
                self.refuse(Problem(message, place, advice, "manifest-invalid"))
                return
            document = next(documents, None) if isinstance(value, dict) and value else None
            for path, fault in _no_json(value):
                if document is None:
                    break
                message, place = f"kustomize cannot read it: {fault}", self.at(document, *path)
                advice = "write it in quotes"
                self.refuse(Problem(message, place, advice, "manifest-invalid"))
            line += part.count("\n") + bool(separator)

    def document(self, document: Document) -> None:
        """Check one object, or the items of a list."""
        if document.kind.endswith("List") and "items" in document.body:
            items, documents = document.body["items"] or [], item_documents(document)
            if not isinstance(items, list) or len(documents) < len(items):
                message = f"the items of a {document.kind} must be objects"
                place, advice = self.at(document, "items"), "complete the manifest"
                self.refuse(Problem(message, place, advice, "manifest-incomplete"))
            for item in documents.values():
                self.document(item)
            return
        name = document.name or (_generated_name(document) if self.known is None else "")
        parts = (("apiVersion", document.api_version), ("kind", document.kind))
        missing = [part for part, value in (*parts, ("metadata.name", name)) if not value]
        if missing:
            message = f"the object has no {' and no '.join(missing)}"
            advice = "complete the manifest"
            if _generated_name(document) and missing == ["metadata.name"]:
                advice = "write a name: kustomize, which Flux runs, accepts no generateName"
            self.refuse(Problem(message, self.at(document), advice, "manifest-incomplete"))
            return
        self._check_duplicate(document)
        if self.references is not None:
            self.references += references_of(document)
        self._check_names(document)
        self._check_data(document)
        self._check_account(document)
        containers, texts = _fields(document)
        if self.rules.are_of_application:
            self._check_of_application(document, containers)
        self._check_labels(document)
        self._check_schema(document, self._check_texts(document, texts))

    def _check_of_application(
        self, document: Document, containers: Iterable[tuple[Path, Mapping[object, object]]]
    ) -> None:
        self._check_namespace(document)
        self._check_secrets(document, containers)
        annotations = _mapping(_mapping(document.body.get("metadata")).get("annotations"))
        if HOOK_ANNOTATION in annotations:
            message = f"{document} is a hook of helm ({annotations[HOOK_ANNOTATION]})"
            advice = "Flux applies it with all other objects; leave hooks out with hooks: false"
            problem = Problem(message, self.at(document), advice, "manifest-hook")
            self.findings.notes.append(problem)
        for path, container in containers:
            image = container.get("image")
            if isinstance(image, str) and image:
                self._check_image(document, (*path, "image"), image)

    def at(self, document: Document, *path: str | int) -> Location:
        """Return the place of a value of an object."""
        return self.at_line(document.at(*path).line)

    def at_line(self, line: int) -> Location:
        """Return the line of the template that printed an output line, else the output line."""
        path, number = self._printed_by(line)
        if self.sources is None or not path:
            return Location(self.where.repository, self.where.path, line)
        return self.sources.at(path, number)

    def value_at(self, document: Document, *path: str | int, as_text: bool = False) -> Location:
        """Return the line of the values that set a value of an object, else the template's.

        With `as_text`, the value may have another type in the values, or be a part of the result.
        """
        place, line = self.at(document, *path), document.at(*path).line
        template, number = self._printed_by(line)
        text = self._templates[template].lines[number - 1] if number else "{{}}"
        if self.sources is None or "{{" not in text:
            return place
        if self._values is None:
            self._values = list(self.sources.values())
        value, name = _value(document.body, path), _name(document.body, path)
        actions = " ".join(ACTION.findall(text))
        chains = [(bool(root), tuple(chain.split("."))) for root, chain in CHAIN.findall(actions)]
        best, weight, count = place, 0, 0
        for values in self._values:
            for setting, set_value in _scalars(values.body):
                is_read = any(
                    setting[-len(chain) :] == chain and is_whole == (len(setting) == len(chain))
                    for is_whole, chain in chains
                )
                is_equal = type(set_value) is type(value) and set_value == value
                if is_equal or (as_text and (is_read or str(set_value) == str(value))):
                    count += 1
                    likeness = 2 * is_read + (_name(values.body, setting) == name)
                    if likeness > weight or count == 1:
                        best, weight = values.at(*setting), likeness
        return best if weight or count == 1 else place

    def _printed_by(self, line: int) -> tuple[str, int]:
        """Return the template that printed an output line, and its line; ("", 0) if unknown."""
        index = bisect_right(self._starts, (line, "\U0010ffff")) - 1
        if self.sources is None or index < 0:
            return "", 0
        start, name = self._starts[index]
        path = self.sources.own_path(name)
        if not path:
            return "", 0
        if path not in self._templates:
            text = self.sources.files[path].decode("utf-8", "replace")
            self._templates[path] = TemplateLines(text)
        if not self.sources.name:  # plain manifests are as they were
            return path, line - start
        return path, self._templates[path].find(self._rows, line - 1)

    def _check_duplicate(self, document: Document) -> None:
        """Refuse an object that occurs twice, in the cluster or for kustomize.

        For kustomize, an object without a namespace is one of `default`.
        """
        namespace = str(_mapping(document.body.get("metadata")).get("namespace") or "")
        group = document.api_version.rpartition("/")[0]
        names = {namespace or self.rules.namespace or "default", namespace or "default"}
        keys = [(group, document.kind, name, document.name) for name in sorted(names)]
        known = self._own if self.known is None else self.known
        place = self.at(document, "metadata", "name")
        also = next((known[key] for key in keys if key in known), None)
        if also is not None and document.name:
            other = f"{also}" if self.sources else f"line {also.line} of the rendered {also.path}"
            message = f"{document} is made twice, also by {other}"
            advice = "remove or rename one of them"
            self.refuse(Problem(message, place, advice, "manifest-duplicate"))
        for key in keys:
            known.setdefault(key, place)

    def _check_namespace(self, document: Document) -> None:
        namespace = _mapping(document.body.get("metadata")).get("namespace")
        if not isinstance(namespace, str) or not self.rules.namespace:
            return
        allowed = (self.rules.namespace, *self.rules.allowed_namespaces)
        if not any(fnmatchcase(namespace, pattern) for pattern in allowed):
            message = f"{document} is in the namespace {namespace!r}, not in "
            message += repr(self.rules.namespace)
            place = self.value_at(document, "metadata", "namespace")
            advice = "leave the namespace out, or allow it with allowed-namespaces"
            self.refuse(Problem(message, place, advice, "manifest-namespace"))

    def _check_names(self, document: Document) -> None:
        """Refuse names and namespaces that Kubernetes refuses.

        A text with `$` is completed by another program, such as Flux. Names of RBAC and of
        OpenShift's kinds may have any characters but those of a path.
        """
        metadata = _mapping(document.body.get("metadata"))
        group = document.api_version.rpartition("/")[0]
        check: Callable[[str], str] = object_name_fault
        if group == "rbac.authorization.k8s.io" or group.endswith("openshift.io"):
            check = _path_fault
        elif not group and document.kind in {"Namespace", "Service"}:
            check = dns_label_fault
        for field_name, check_of_field in (("name", check), ("namespace", dns_label_fault)):
            text = metadata.get(field_name)
            if not isinstance(text, str) or not text or "$" in text:
                continue
            fault = check_of_field(text)
            if fault:
                message = f"{document}: metadata.{field_name} is {text!r}; it {fault}"
                place = self.value_at(document, "metadata", field_name)
                advice = "print another text, such as one converted by lower or replace"
                if "<no value>" in text:
                    advice = "set the key that the Template reads there, or give it a default"
                self.refuse(Problem(message, place, advice, "manifest-name-invalid"))

    def _check_data(self, document: Document) -> None:
        """Refuse keys of a ConfigMap or Secret, and values in Base64, that Kubernetes refuses."""
        if document.api_version != "v1" or document.kind not in {"ConfigMap", "Secret"}:
            return
        values = [
            text
            for field_name in ("data", "stringData", "binaryData")
            for item in _mapping(document.body.get(field_name)).items()
            for text in item
        ]
        size = sum(len(str(text).encode("utf-8", "replace")) for text in values)
        if size > MOST_DATA:
            message = f"{document} has {size:,} bytes of data; Kubernetes takes at most "
            message += f"{MOST_DATA:,}"
            advice = "keep large texts elsewhere, or print them into several objects"
            self.refuse(Problem(message, self.at(document), advice, "manifest-data-invalid"))
        for field_name in ("data", "stringData", "binaryData"):
            is_base64 = field_name == "binaryData" or (document.kind, field_name) == BASE64_DATA
            for key, value in _mapping(document.body.get(field_name)).items():
                name = str(key)
                if VARIABLE not in name and not DATA_KEY.fullmatch(name):
                    message = f"{document}: {field_name} has the key {name!r}; a key may "
                    message += "hold letters, digits, '-', '_' and '.' only, at most 253"
                    place = self.at(document, field_name, name)
                    advice = "rename the key where it is set"
                    self.refuse(Problem(message, place, advice, "manifest-data-invalid"))
                if is_base64 and isinstance(value, str) and not _is_base64(value, document):
                    message = f"{document}: {field_name}.{name} is no Base64"
                    place = self.value_at(document, field_name, name)
                    advice = "print it with | b64enc"
                    if document.kind == "Secret":
                        advice += ", or move it to stringData"
                    self.refuse(Problem(message, place, advice, "manifest-data-invalid"))

    def _check_account(self, document: Document) -> None:
        """Warn of an empty account of Flux, which then applies with its own rights: all of them."""
        spec = _mapping(document.body.get("spec"))
        if document.kind in FLUX_KINDS and not spec.get("serviceAccountName", "none given"):
            message = f"{document}: spec.serviceAccountName is empty, so Flux applies it "
            message += "with the rights of its controller"
            place = self.at(document, "spec", "serviceAccountName")
            advice = "print a name for every target, such as by default, or leave the field out"
            problem = Problem(message, place, advice, "manifest-value-invalid")
            self.findings.warnings.append(problem)

    def _check_labels(self, document: Document) -> None:
        """Refuse keys and values of labels, and keys of annotations, that Kubernetes refuses."""
        metadata = _mapping(document.body.get("metadata"))
        for field_name in ("labels", "annotations"):
            for key, value in _mapping(metadata.get(field_name)).items():
                name = str(key)
                is_label = field_name == "labels"
                fault = label_key_fault(name if is_label else name.lower())
                subject = repr(name)
                if not fault and is_label and isinstance(value, str):
                    fault, subject = label_value_fault(value), f"{name} is {value!r}; a value"
                if fault:
                    message = f"{document}: metadata.{field_name}: {subject} {fault}"
                    place = self.value_at(document, "metadata", field_name, name)
                    advice = "print another text, such as one converted by replace"
                    self.refuse(Problem(message, place, advice, "manifest-label-invalid"))

    def _check_texts(self, document: Document, paths: Iterable[Path]) -> Set[Path]:
        """Refuse values that are no texts where Kubernetes takes only texts; return their paths."""
        faults = {path: self._fault(document, path) for path in paths}
        for path, fault in faults.items():
            if fault:
                message = f"{document}: {'.'.join(map(str, path))} {fault}"
                place = self.value_at(document, *path)
                advice = "write it in quotes, or print it with | quote"
                value = _value(document.body, path)
                if isinstance(value, list):
                    advice = "print it as a text: by toJson | quote, or in a mapping by stringify"
                elif isinstance(value, Mapping):
                    advice = "print it as a text by toJson | quote; in a mapping, put it in single "
                    advice += "quotes inside the value where it is set"
                self.refuse(Problem(message, place, advice, "manifest-not-text"))
        return {path for path, fault in faults.items() if fault}

    def _fault(self, document: Document, path: Path) -> str:
        """Say what a value is that is no text; "" for a text and for nothing, which is empty."""
        value, where = _value(document.body, path), document.at(*path)
        row = self._rows[where.line - 1] if 0 < where.line <= len(self._rows) else ""
        raw = row[where.column - 1 :] if where.column else ""
        shown = re.split(r"[\s,\[\]{}]", raw, maxsplit=1)[0]
        if isinstance(value, str):
            is_date = is_timestamp(value) and raw.startswith(value)
            return f"is the date {value}, which kustomize extends by a time" if is_date else ""
        if value is None and shown not in {"~", "null", "Null", "NULL"}:
            return ""
        if isinstance(value, Mapping | list):
            shown = "a list" if isinstance(value, list) else "a map"
        return f"is {shown or value}, not a text"

    def _check_schema(self, document: Document, reported: Set[Path]) -> None:
        if self.rules.schema_errors is None:
            return
        try:
            for path, fault, is_certain, code, advice in self.rules.schema_errors(document.body):
                if path in reported or path == ("sops",):  # Flux decrypts the object
                    continue
                message = f"{document}: {'.'.join(map(str, path)) or 'object'}: {fault}"
                place = self.value_at(document, *path) if path else self.at(document)
                if is_certain:
                    self.refuse(Problem(message, place, advice, code))
                else:
                    unknown = Problem(message, place, advice, "manifest-field-unknown")
                    self.findings.warnings.append(unknown)
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

    def _check_secrets(
        self, document: Document, containers: Iterable[tuple[Path, Mapping[object, object]]]
    ) -> None:
        """Warn of secrets that everybody with access to the repository can read."""
        if document.kind == "Secret" and "sops" not in document.body:
            for name in ("stringData", "data"):
                for key, value in _mapping(document.body.get(name)).items():
                    if isinstance(value, str) and value and not ENCRYPTED.match(value):
                        place = self.value_at(document, name, str(key), as_text=True)
                        self._warn_of_secret(f"{document} has the key {key!r}", place)
                        return
        for path, container in containers:
            variables = container.get("env")
            for index, variable in enumerate(variables if isinstance(variables, list) else ()):
                variable_name, text = (
                    _mapping(variable).get("name"),
                    _mapping(variable).get("value"),
                )
                is_secret = isinstance(variable_name, str) and SECRET_NAME.search(variable_name)
                if is_secret and text not in (None, ""):
                    place = self.value_at(document, *path, "env", index, "value", as_text=True)
                    subject = f"{document} has the variable {variable_name!r}"
                    self._warn_of_secret(subject, place)

    def _warn_of_secret(self, subject: str, place: Location) -> None:
        message = f"{subject} in plain text: everybody who reads the repository knows it"
        advice = "use an ExternalSecret, a SealedSecret, or SOPS"
        self.findings.warnings.append(Problem(message, place, advice, "secret-in-plain-text"))

    def refuse(self, problem: Problem) -> None:
        findings = self.findings
        (findings.problems if self.rules.strict else findings.warnings).append(problem)


def _path_fault(name: str) -> str:
    """Check a name that is a part of a path."""
    return "may not hold '/' or '%'" if name in {".", ".."} or re.search("[/%]", name) else ""


def _is_base64(text: str, document: Document) -> bool:
    """Return whether Kubernetes reads a text as Base64; an encrypted one is not read yet.

    The length of a renamed word differs from that of the word.
    """
    if VARIABLE in text or "sops" in document.body or ENCRYPTED.match(text):
        return True
    if NEW_WORD.search(text):
        return False
    try:
        base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True)
    except ValueError:
        return False
    return True


def _no_json(value: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the keys that are no texts, and the numbers that JSON does not have."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield (*path, str(key)), f"the key {key!r} is no text"
            yield from _no_json(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _no_json(inner, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"JSON has no number {value}"


def _generated_name(document: Document) -> object:
    return _mapping(document.body.get("metadata")).get("generateName")


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _nodes(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield all values inside an object, itself first."""
    yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _nodes(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _nodes(inner, (*path, index))


def _scalars(value: object) -> Iterator[tuple[Path, object]]:
    return (node for node in _nodes(value) if not isinstance(node[1], Mapping | list))


def _value(body: object, path: Path) -> object:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(body, list) and isinstance(step, int):
            body = body[step] if step < len(body) else None
        else:
            body = _mapping(body).get(step)
    return body


def _name(body: object, path: Path) -> object:
    """Return the key of a value, but the name of a variable: `{name: A, value: x}`."""
    return _mapping(_value(body, path[:-1])).get("name") if path[-1:] == ("value",) else path[-1]


def _fields(
    document: Document,
) -> tuple[list[tuple[Path, Mapping[object, object]]], list[Path]]:
    """Return the containers anywhere in an object, and the paths of values that must be texts."""
    containers, texts = [], []
    for path, value in _nodes(document.body):
        parent = path[-2] if len(path) > 1 else ""
        if parent in CONTAINERS and isinstance(path[-1], int):
            containers.append((path, _mapping(value)))
        elif parent in PARENTS_OF_TEXTS or path[-1:] in {("value",), ("image",)}:
            texts += [path] if _must_be_text(path, value, document.kind) else []
    return containers, texts


def _must_be_text(path: Path, value: object, kind: str) -> bool:
    match path:
        case (*_, "metadata", "labels" | "annotations"):  # else its values are texts
            wanted = isinstance(value, str | list)
        case (*_, parent, int(), "image") | (*_, parent, int(), "args" | "command", int()):
            wanted = parent in CONTAINERS
        case ("data" | "stringData", _):
            wanted = kind in {"ConfigMap", "Secret"}
        case ("spec", "selector", _):
            wanted = kind == "Service"
        case (
            (*_, "metadata", "name" | "namespace")
            | (*_, "metadata", "labels" | "annotations", _)
            | (*_, "matchLabels" | "nodeSelector", _)
            | (*_, "env", int(), "value")
        ):
            wanted = True
        case _:
            wanted = False
    return wanted and FREE.isdisjoint(path)
