"""The Kubernetes objects of a YAML file: lists expanded, apiVersion and kind checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.sources.yaml_documents import ParsedFile, parse_yaml

LOCAL_CONFIG_ANNOTATION = "config.kubernetes.io/local-config"
"""kustomize leaves out objects with it, unless its value is "false"."""

KUSTOMIZE_GROUP = "kustomize.config.k8s.io/"


def read_objects(repository: str, path: str, content: bytes) -> ParsedFile:
    """The objects of a file as Flux finds them in it, of known and unknown kinds.

    An object of a kind that ends in `List` stands for its items. An object without apiVersion or
    kind is a problem, with one exception that older documentation asks for: a ConfigMap without
    apiVersion is taken for a `v1` one, with a warning.
    """
    parsed = parse_yaml(repository, path, content)
    objects = _Objects(list(parsed.problems), list(parsed.warnings))
    found = [one for document in parsed.documents for one in objects.of(document)]
    return ParsedFile(tuple(found), tuple(objects.problems), tuple(objects.warnings))


@dataclass(slots=True)
class _Objects:
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def of(self, document: Document) -> Iterator[Document]:
        document = self._with_api_version(document)
        missing = [
            name
            for name, value in (("apiVersion", document.api_version), ("kind", document.kind))
            if not value
        ]
        if missing:
            self._refuse(document, missing)
        elif document.kind.endswith("List"):
            yield from self._items(document)
        elif document.api_version.startswith(KUSTOMIZE_GROUP):
            message = f"a {document.kind} of kustomize counts only in a file kustomization.yaml"
            self.warnings.append(Problem(message, document.where, "rename the file or remove it"))
        elif not _is_local(document):
            yield document

    def _with_api_version(self, document: Document) -> Document:
        if document.kind != "ConfigMap" or document.body.get("apiVersion") is not None:
            return document
        message = "the ConfigMap has no apiVersion; v1 is assumed, Kubernetes would refuse it"
        self.warnings.append(Problem(message, document.where, "add apiVersion: v1"))
        return replace(document, body={**document.body, "apiVersion": "v1"})

    def _refuse(self, document: Document, missing: list[str]) -> None:
        written = [name for name in missing if document.body.get(name) not in (None, "")]
        if written:
            message = f"{' and '.join(written)} must be a string"
        else:
            message = f"the document has no {' and no '.join(missing)}"
        where = document.at(written[0]) if written else document.where
        advice = "a file that is no Kubernetes manifest can be excluded by .sourceignore"
        self.problems.append(Problem(message, where, advice))

    def _items(self, document: Document) -> Iterator[Document]:
        items = document.body.get("items")
        if items is None:
            return
        if not isinstance(items, list):
            message = f"items of a {document.kind} must be a list"
            self.problems.append(Problem(message, document.at("items")))
            return
        lines = _lines_of_items(document.lines)
        for index, item in enumerate(items):
            if isinstance(item, Mapping):
                where = document.at("items", index)
                blocks = {path[2:] for path in document.blocks if path[:2] == ("items", index)}
                yield from self.of(Document(item, where, lines.get(index, {}), blocks))
            else:
                message = f"an item of a {document.kind} must be an object"
                self.problems.append(Problem(message, document.at("items", index)))


def _lines_of_items(
    lines: Mapping[tuple[str | int, ...], int],
) -> Mapping[str | int, Mapping[tuple[str | int, ...], int]]:
    """The lines of a list, divided among its items."""
    divided: dict[str | int, dict[tuple[str | int, ...], int]] = {}
    for path, line in lines.items():
        if len(path) > 2 and path[0] == "items":
            divided.setdefault(path[1], {})[path[2:]] = line
    return divided


def _is_local(document: Document) -> bool:
    metadata = document.body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(annotations, Mapping) or LOCAL_CONFIG_ANNOTATION not in annotations:
        return False
    return bool(annotations[LOCAL_CONFIG_ANNOTATION] != "false")
