"""Read OCM's objects from YAML documents, with the messages of its API server about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document, Path
from kalypso_placement.admission import Refusal, admit
from kalypso_placement.hub import Hub
from kalypso_placement.objects import (
    Cluster,
    ClusterSet,
    Decisions,
    Placement,
    Score,
)
from kalypso_placement.schemas import GROUP, SCHEMAS

_VERSIONS: Final = {kind: version for version, kind in SCHEMAS}


@dataclass(frozen=True, slots=True)
class Object:
    """A document, or an item of a List; `path` is its place in the document."""

    body: Mapping[str, Any]
    document: Document
    path: Path = ()
    kind: str = ""
    version: str = ""

    @property
    def name(self) -> str:
        """The name of the object; "" without one."""
        metadata = self.body.get("metadata")
        return str(metadata.get("name", "")) if isinstance(metadata, Mapping) else ""

    @property
    def title(self) -> str:
        """Kind, namespace and name, for messages."""
        metadata = self.body.get("metadata")
        parts = metadata if isinstance(metadata, Mapping) else {}
        names = [str(parts[key]) for key in ("namespace", "name") if parts.get(key)]
        return f"{self.kind} {'/'.join(names)}"


@dataclass(slots=True)
class HubObjects:
    """The objects of a hub; `unreadable` is the first one that OCM's own types cannot hold.

    `refused` are the names of objects that are left out, each with a problem.
    """

    placements: list[Placement] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    sets: list[ClusterSet] = field(default_factory=list)
    bindings: dict[str, list[str]] = field(default_factory=dict)
    decisions: list[Decisions] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    unreadable: str | None = None

    def hub(self) -> Hub:
        """Return a hub with these objects."""
        return Hub.of(self.clusters, self.sets, self.bindings, self.decisions, self.scores)

    def add(self, documents: Iterable[Document]) -> None:
        """Read the documents of OCM's group; ignore others."""
        for item in ocm_objects(documents):
            self._add(item)

    def _add(self, item: Object) -> None:
        if (item.version, item.kind) not in SCHEMAS:
            message = f"{item.title}: {GROUP}/{item.version} has no {item.kind}"
            advice = f"write {_VERSIONS[item.kind]}"
            place = item.document.at(*item.path, "apiVersion")
            self.problems.append(Problem(message, place, advice, "placement-refused"))
            self.refused.add(item.name)
            return
        admitted = admit(item.body, SCHEMAS[item.version, item.kind])
        self.problems += [_problem(item, refusal) for refusal in admitted.refusals]
        if admitted.unreadable is not None:
            self.unreadable = self.unreadable or f"{item.title}: {admitted.unreadable.message}"
            self.refused.add(item.name)
            return
        body = admitted.body
        match item.kind:
            case "Placement":
                self.placements.append(Placement.of(body, item.document.at(*item.path)))
            case "ManagedCluster":
                self.clusters.append(Cluster.of(body))
            case "ManagedClusterSet":
                self.sets.append(ClusterSet.of(body))
            case "ManagedClusterSetBinding":
                metadata = body["metadata"]
                assert isinstance(metadata, dict)  # noqa: S101 - admission makes it one
                names = self.bindings.setdefault(metadata.get("namespace", ""), [])
                names.append(metadata.get("name", ""))
            case "PlacementDecision":
                self.decisions.append(Decisions.of(body))
            case "AddOnPlacementScore":
                self.scores.append(Score.of(body))


def ocm_objects(documents: Iterable[Document]) -> Iterator[Object]:
    """Yield the objects of OCM's group, including those inside Lists."""
    for document in documents:
        yield from _objects(Object(document.body, document))


def _objects(item: Object) -> Iterator[Object]:
    kind, api_version = item.body.get("kind"), item.body.get("apiVersion")
    items = item.body.get("items")
    group, _, version = str(api_version).partition("/")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, body in enumerate(items):
            if isinstance(body, dict):
                owner = {"kind": kind.removesuffix("List"), "apiVersion": api_version}
                path = (*item.path, "items", index)
                yield from _objects(Object({**owner, **body}, item.document, path))
    elif group == GROUP and isinstance(kind, str) and kind in _VERSIONS:
        yield Object(item.body, item.document, item.path, kind, version)


def _problem(item: Object, refusal: Refusal) -> Problem:
    where = item.document.at(*item.path, *refusal.path)
    message = f"{item.title}: {refusal.message}"
    if refusal.kind == "unknown":
        return Problem(message, where, "", "placement-field-unknown")
    if refusal.kind == "unreadable":
        return Problem(message, where, "", "placement-unreadable")
    return Problem(message, where, "", "placement-refused")
