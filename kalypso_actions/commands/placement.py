"""`kalypso placement`: the decision of OCM for a Placement, without a hub."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from kalypso_actions import fleet
from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.placement import PlacementInputs
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import ClusterType
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.placement_document import PlacementDocument
from kalypso_actions.sources.exported_scalars import resolve_exported
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_placement.cel import CelExpressions
from kalypso_placement.cluster_types import hub_of
from kalypso_placement.document import answer
from kalypso_placement.fleet import HubObjects
from kalypso_placement.hub import Hub
from kalypso_placement.instants import format_instant, of_datetime
from kalypso_placement.objects import Placement
from kalypso_placement.reconciliation import (
    NegativeNumberError,
    first,
    reconcile,
)
from kalypso_placement.spread import spread_evenly

YAML = (".yaml", ".yml", ".json")


def placement(inputs: PlacementInputs, now: datetime) -> PlacementDocument:
    """Read the fleet and the Placement, and decide.

    Raises UsageError if there is no such Placement, or several, and for unreadable files.
    """
    objects = HubObjects()
    documents = _read_folder(inputs.fleet, objects.problems)
    file = Path(inputs.placement)
    if file.is_file():
        objects.add(_read_file(file, objects.problems))
        own, objects.placements = objects.placements, []
        objects.add(documents)
        chosen = _only(own, f"{file} holds", objects)
    else:
        objects.add(documents)
        chosen = _named(objects.placements, inputs)
    instant = of_datetime(inputs.now or now)
    document = PlacementDocument(now=format_instant(instant))
    update: dict[str, object] = {}
    if objects.unreadable is not None or chosen is None:
        update = {"decode_error": objects.unreadable}
    elif chosen.disabled:
        update = {"skipped": True}
    else:
        hub = _hub(objects, documents, chosen)
        document = _decided(document, chosen, hub, instant, spread=inputs.spread)
    if chosen is not None:
        update |= {"placement": chosen.name, "namespace": chosen.namespace}
    problems = ProblemEntry.all_of(sorted(objects.problems, key=_place))
    return document.model_copy(update={**update, "problems": problems})


def _decided(
    document: PlacementDocument, chosen: Placement, hub: Hub, now: int, *, spread: bool
) -> PlacementDocument:
    choose = spread_evenly if spread and chosen.spread else first
    try:
        result = reconcile(chosen, hub, CelExpressions(hub), now, choose)
    except NegativeNumberError:
        text = f"slice bounds out of range [:{chosen.number_of_clusters}]"
        return document.model_copy(update={"panic": text})
    return PlacementDocument.model_validate({"now": document.now, **answer(result)})


def _hub(objects: HubObjects, documents: Sequence[Document], chosen: Placement) -> Hub:
    """Return OCM's hub, or that of an environment's cluster types."""
    if objects.clusters or objects.sets:
        return objects.hub()
    findings = fleet.Diagnostics()
    parsed = [fleet.parse_document(d, findings) for d in documents if d.kind == "ClusterType"]
    cluster_types = [item for item in parsed if isinstance(item, ClusterType)]
    hub, problems = hub_of(cluster_types, [chosen.namespace], objects.decisions, objects.scores)
    objects.problems += [*findings.problems, *problems]
    return hub


def _read_folder(folder: Path, problems: list[Problem]) -> list[Document]:
    if not folder.is_dir():
        raise UsageError(f"--fleet {folder} is no folder")
    files = FolderFiles(folder)
    paths = [path for path in files.entries() if path.endswith(YAML)]
    documents: list[Document] = []
    for path, content in files.read(paths).items():
        parsed = parse_yaml(str(folder), path, content, scalar=resolve_exported)
        problems += parsed.problems
        documents += parsed.documents
    return documents


def _read_file(file: Path, problems: list[Problem]) -> Sequence[Document]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    parsed = parse_yaml(str(file.parent), file.name, content, scalar=resolve_exported)
    problems += parsed.problems
    return [d for d in parsed.documents if d.kind in {"Placement", "List", "PlacementList"}]


def _only(placements: Sequence[Placement], holder: str, objects: HubObjects) -> Placement | None:
    if len(placements) > 1:
        names = ", ".join(item.name for item in placements)
        raise UsageError(f"{holder} several Placements: {names}")
    if not placements and objects.unreadable is None:
        raise UsageError(f"{holder} no Placement of cluster.open-cluster-management.io/v1beta1")
    return placements[0] if placements else None


def _named(placements: Sequence[Placement], inputs: PlacementInputs) -> Placement:
    namespace, slash, name = inputs.placement.rpartition("/")
    matching = [
        item
        for item in placements
        if item.name == name and (not slash or item.namespace == namespace)
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"{item.namespace}/{item.name}" for item in matching)
        raise UsageError(f"{inputs.fleet} holds several: name one of {names}")
    known = ", ".join(sorted({item.name for item in placements})) or "none"
    advice = f"name a file, or one of the folder's Placements: {known}"
    raise UsageError(f"there is no Placement {inputs.placement!r}", advice=advice)


def _place(problem: Problem) -> tuple[str, int]:
    where = problem.where
    return (where.path, where.line) if where else ("", 0)
