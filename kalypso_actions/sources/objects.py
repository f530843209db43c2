"""Read the Kubernetes objects of a YAML file: expand lists, check apiVersion and kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.nearest import nearest
from kalypso_actions.sources.yaml_documents import ParsedFile, parse_yaml

PlaceMark = TypeVar("PlaceMark")

LOCAL_CONFIG_ANNOTATION = "config.kubernetes.io/local-config"
"""kustomize skips objects with this annotation, unless its value is "false"."""

KUSTOMIZE_GROUP = "kustomize.config.k8s.io/"


def read_objects(
    repository: str, path: str, content: bytes, max_values: int | None = None
) -> ParsedFile:
    """Return the objects of a file as Flux reads them; their kinds may be unknown.

    An object whose kind ends in `List` is replaced by its items. An object without apiVersion or
    kind is a problem. Old documentation has ConfigMaps without apiVersion: these become `v1`, with
    a warning. `max_values`: see `parse_yaml`.
    """
    parsed = parse_yaml(repository, path, content, max_values)
    objects = _Objects(list(parsed.problems), list(parsed.warnings))
    expanded = tuple(item for document in parsed.documents for item in objects.of(document))
    problems, warnings = tuple(objects.problems), tuple(objects.warnings)
    return ParsedFile(expanded, problems, warnings, parsed.values)


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
            message = f"a {document.kind} of kustomize has an effect only in a kustomization.yaml"
            advice = "rename the file or remove it"
            self.warnings.append(
                Problem(message, document.where, advice, "kustomization-misplaced")
            )
        elif not _is_local(document):
            yield document

    def _with_api_version(self, document: Document) -> Document:
        if document.kind != "ConfigMap" or document.body.get("apiVersion") is not None:
            return document
        message = "the ConfigMap has no apiVersion; v1 is assumed, but Kubernetes would refuse it"
        advice = "add apiVersion: v1"
        self.warnings.append(Problem(message, document.where, advice, "api-version-missing"))
        return replace(document, body={**document.body, "apiVersion": "v1"})

    def _refuse(self, document: Document, missing: list[str]) -> None:
        wrong_type = [name for name in missing if document.body.get(name) not in (None, "")]
        if wrong_type:
            message = f"{' and '.join(wrong_type)} must be a string"
        else:
            message = f"the document has no {' and no '.join(missing)}"
        where = document.at(wrong_type[0]) if wrong_type else document.where
        advice = "exclude files that are not Kubernetes manifests by .sourceignore"
        self.problems.append(Problem(message, where, advice, "document-not-kubernetes"))

    def _items(self, document: Document) -> Iterator[Document]:
        items = document.body.get("items")
        if items is None:
            if document.kind == "List":
                close = nearest("items", document.body)
                message = "the List has no items: nothing of it is read"
                advice = f"write items instead of {close}" if close else "add items"
                where = document.key_at(close) if close else document.where
                self.warnings.append(Problem(message, where, advice, "list-without-items"))
            return
        if not isinstance(items, list):
            message = f"the items of a {document.kind} must be a list"
            where = document.at("items")
            self.problems.append(Problem(message, where, code="document-not-kubernetes"))
            return
        documents = item_documents(document)
        for index in range(len(items)):
            if index in documents:
                yield from self.of(documents[index])
            else:
                message = f"an item of a {document.kind} must be an object"
                where = document.at("items", index)
                self.problems.append(Problem(message, where, code="document-not-kubernetes"))


def item_documents(document: Document) -> dict[int, Document]:
    """Return the items of a list that are objects, with their places, by index."""
    items = document.body.get("items")
    marks = _marks_of_items(document.marks)
    blocks = _marks_of_items(document.blocks)
    return {
        index: Document(
            item, document.at("items", index), marks.get(index, {}), blocks.get(index, {})
        )
        for index, item in enumerate(items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
    }


def _marks_of_items(
    marks: Mapping[Path, PlaceMark],
) -> Mapping[str | int, Mapping[Path, PlaceMark]]:
    """Divide the marks of a list among its items."""
    divided: dict[str | int, dict[Path, PlaceMark]] = {}
    for path, mark in marks.items():
        if len(path) > 2 and path[0] == "items":
            divided.setdefault(path[1], {})[path[2:]] = mark
    return divided


def _is_local(document: Document) -> bool:
    metadata = document.body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(annotations, Mapping) or LOCAL_CONFIG_ANNOTATION not in annotations:
        return False
    return bool(annotations[LOCAL_CONFIG_ANNOTATION] != "false")
