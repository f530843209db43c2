"""`kalypso placement`: the decision of OCM for a Placement, without a hub."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
import yaml
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text
from yaml.resolver import Resolver

from kalypso_actions.commands.interface import (
    CommandDocument,
    CommandEntry,
    ProblemEntry,
    escape_line,
    parse_kind,
    read_yaml,
)
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import ClusterType
from kalypso_go.goyaml.scalars import resolve
from kalypso_placement.cel import CelExpressions
from kalypso_placement.hub import Hub, HubObjects, hub_of
from kalypso_placement.instants import format_instant, of_datetime
from kalypso_placement.objects import Placement
from kalypso_placement.reconciliation import (
    NegativeNumberError,
    Reconciliation,
    first,
    reconcile,
    spread_evenly,
)

_RESOLVER: Final = Resolver()
_TEXT: Final = "tag:yaml.org,2002:str"


def placement(
    placement: Annotated[
        str,
        typer.Argument(
            metavar="PLACEMENT",
            help="A file with one Placement, or the name of one in the folder: [NAMESPACE/]NAME.",
        ),
    ],
    fleet: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="The documents of an environment, or of a hub as kubectl get -o yaml writes them.",
        ),
    ],
    now: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The time, such as 2026-03-01T12:00:00Z. Default: now."),
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="Execute spreadPolicy, which OCM ignores.")
    ] = False,
) -> PlacementDocument:
    """Show which clusters a Placement of Open Cluster Management selects, and why.

    It decides exactly as OCM's scheduler, and writes nothing anywhere.

    Examples:
    kalypso placement placement.yaml --fleet hub
    kalypso placement edge --fleet ../control-plane --now 2026-03-01T12:00:00Z
    Exit codes: 0 done, 1 documents that OCM refuses or cannot read, 2 wrong options or inputs.
    """
    moment = datetime.now(UTC) if now is None else _time(now)
    return decide(placement, fleet, moment, spread=spread)


def _time(text: str) -> datetime:
    try:
        return TypeAdapter(AwareDatetime).validate_python(text)
    except ValidationError as error:
        raise UsageError(f"--now: {error.errors()[0]['msg']}") from error


def decide(wanted: str, fleet: Path, now: datetime, *, spread: bool = False) -> PlacementDocument:
    """Read the fleet and the Placement, which is a file or a name, and decide.

    Raises UsageError if there is no such Placement, or several, and for unreadable files.
    """
    objects = HubObjects()
    if not _is_folder(fleet):
        raise UsageError(f"--fleet {fleet} is no folder")
    documents = _read(fleet, objects.problems)
    file = Path(wanted)
    if file.is_file():
        kinds = {"Placement", "List", "PlacementList"}
        objects.add(each for each in _read(file, objects.problems) if each.kind in kinds)
        own, objects.placements = objects.placements, []
        objects.add(documents)
        chosen = _only(own, f"{file} holds", objects)
    else:
        objects.add(documents)
        chosen = _named(objects.placements, wanted, fleet)
    instant = of_datetime(now)
    fields: dict[str, Any] = {}
    if objects.unreadable is not None or chosen is None:
        fields = {"decode_error": objects.unreadable}
    elif chosen.disabled:
        fields = {"skipped": True}
    else:
        fields = _decision(chosen, _hub(objects, documents, chosen), instant, spread=spread)
    if chosen is not None:
        fields |= {"placement": chosen.name, "namespace": chosen.namespace}
    problems = ProblemEntry.all_of(sorted(objects.problems, key=_place))
    fields |= {"now": format_instant(instant), "problems": problems}
    return PlacementDocument.model_validate(fields)


def _decision(chosen: Placement, hub: Hub, now: int, *, spread: bool) -> dict[str, Any]:
    choose = spread_evenly if spread and chosen.spread else first
    try:
        return answer_fields(reconcile(chosen, hub, CelExpressions(hub), now, choose))
    except NegativeNumberError:
        return {"panic": f"slice bounds out of range [:{chosen.number_of_clusters}]"}


def answer_fields(result: Reconciliation) -> dict[str, Any]:
    """Return the fields of the document that OCM reaches."""
    scheduled, requeue = result.scheduled, result.scheduled.requeue
    fields: dict[str, Any] = {
        "bound_cluster_sets": result.bound_sets,
        "eligible_cluster_sets": result.eligible_sets,
        "sync_error": result.sync_error,
    }
    if result.conditions is not None:
        number = len(scheduled.decisions)
        fields["status"] = {"number_of_selected_clusters": number, "conditions": result.conditions}
    if result.set_error is not None:
        return fields
    if result.group_status.failed:
        fields["decision_groups_status"] = result.group_status
    return fields | {
        "available_clusters": result.available,
        "filtered_pipeline_results": [
            {"name": name, "filtered_clusters": clusters} for name, clusters in scheduled.filtered
        ],
        "prioritize_results": scheduled.prioritized,
        "aggregated_scores": [
            {"cluster_name": name, "score": total} for name, total in scheduled.totals
        ],
        "decisions": [cluster.name for cluster in scheduled.decisions],
        "number_of_unscheduled": scheduled.unscheduled,
        "decision_groups": [
            {
                "decision_group_index": group.index,
                "decision_group_name": group.name,
                "decisions": [decision.name for decision in group.decisions],
                "cluster_count": len(group.clusters),
                "clusters": group.clusters,
            }
            for group in result.groups
        ],
        "placement_decisions": [item for group in result.groups for item in group.decisions],
        "schedule_status": scheduled.status,
        "requeue_time": None if requeue is None else format_instant(requeue),
    }


def _hub(objects: HubObjects, documents: Sequence[Document], chosen: Placement) -> Hub:
    """Return OCM's hub, or that of an environment's cluster types."""
    if objects.clusters or objects.sets:
        return objects.hub()
    cluster_types, faults = parse_kind(documents, ClusterType)
    hub, problems = hub_of(cluster_types, [chosen.namespace], objects.decisions, objects.scores)
    objects.problems += [*faults, *problems]
    return hub


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError as error:
        raise UsageError(f"--fleet: {place}: {error.strerror}") from error


def _read(place: Path, problems: list[Problem]) -> list[Document]:
    documents, faults = read_yaml(place, resolve_exported)
    problems += faults
    return documents


@lru_cache(maxsize=65536)
def resolve_exported(text: str) -> object:
    """Return the value of a plain scalar; a text if YAML 1.1 or yaml.v2 calls it one.

    kubectl quotes every text that could be read as something else. Other exporters follow YAML 1.1,
    where `019`, `1e3` and `y` are texts.
    """
    value = resolve(text)
    if isinstance(value, str):
        return value
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return text if tag == _TEXT else value


def _only(placements: Sequence[Placement], holder: str, objects: HubObjects) -> Placement | None:
    if len(placements) > 1:
        names = ", ".join(item.name for item in placements)
        raise UsageError(f"{holder} several Placements: {names}")
    if not placements and objects.unreadable is None:
        raise UsageError(f"{holder} no Placement of cluster.open-cluster-management.io/v1beta1")
    return placements[0] if placements else None


def _named(placements: Sequence[Placement], wanted: str, fleet: Path) -> Placement:
    namespace, slash, name = wanted.rpartition("/")
    matching = [
        item
        for item in placements
        if item.name == name and (not slash or item.namespace == namespace)
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"{item.namespace}/{item.name}" for item in matching)
        raise UsageError(f"{fleet} holds several: name one of {names}")
    known = ", ".join(sorted({item.name for item in placements})) or "none"
    advice = f"name a file, or one of the folder's Placements: {known}"
    raise UsageError(f"there is no Placement {wanted!r}", advice=advice)


def _place(problem: Problem) -> tuple[str, int]:
    where = problem.where
    return (where.path, where.line) if where else ("", 0)


class FilterResultEntry(CommandEntry):
    """The clusters that the filters up to this one left."""

    name: str
    filtered_clusters: tuple[str, ...]


class PrioritizeResultEntry(CommandEntry):
    """The scores of one prioritizer; a cluster without an entry counts 0."""

    name: str
    weight: int
    scores: dict[str, int]


class AggregatedScoreEntry(CommandEntry):
    """The weighted total of a cluster."""

    cluster_name: str
    score: int


class DecisionGroupEntry(CommandEntry):
    """A decision group, and the PlacementDecisions that hold it."""

    decision_group_index: int
    decision_group_name: str
    decisions: tuple[str, ...]
    cluster_count: int
    clusters: tuple[str, ...]


class PlacementDecisionEntry(CommandEntry):
    """A PlacementDecision that OCM would write."""

    name: str
    labels: dict[str, str]
    clusters: tuple[str, ...]


class ScheduleStatusEntry(CommandEntry):
    """The outcome of scheduling."""

    code: Literal["Success", "Warning", "Error", "Misconfigured"]
    plugin: str
    message: str


class ConditionEntry(CommandEntry):
    """A condition of the Placement."""

    status: Literal["True", "False"]
    reason: str
    message: str


class PlacementStatusEntry(CommandEntry):
    """The status that OCM would write."""

    number_of_selected_clusters: int
    conditions: dict[str, ConditionEntry]


class PlacementDocument(CommandDocument):
    """The decisions of OCM; a field is null if OCM stops before it.

    `decodeError`, `panic` and `skipped` say that OCM decides nothing: it cannot read the
    documents, its code panics, or it skips the Placement.
    """

    schema_name: Literal["kalypso.placement/v1"] = Field("kalypso.placement/v1", alias="schema")
    placement: str = ""
    namespace: str = ""
    now: str = ""
    bound_cluster_sets: tuple[str, ...] | None = None
    eligible_cluster_sets: tuple[str, ...] | None = None
    available_clusters: tuple[str, ...] | None = None
    filtered_pipeline_results: tuple[FilterResultEntry, ...] | None = None
    prioritize_results: tuple[PrioritizeResultEntry, ...] | None = None
    aggregated_scores: tuple[AggregatedScoreEntry, ...] | None = None
    decisions: tuple[str, ...] | None = None
    number_of_unscheduled: int | None = None
    decision_groups: tuple[DecisionGroupEntry, ...] | None = None
    decision_groups_status: ScheduleStatusEntry | None = None
    placement_decisions: tuple[PlacementDecisionEntry, ...] | None = None
    schedule_status: ScheduleStatusEntry | None = None
    requeue_time: str | None = None
    status: PlacementStatusEntry | None = None
    sync_error: str | None = None
    decode_error: str | None = None
    panic: str | None = None
    skipped: bool | None = None
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether OCM refuses documents, or panics."""
        return bool(self.problems or self.panic)

    def show(self, console: Console) -> None:
        """Print a row for each candidate: the filter that dropped it, or its scores and the cut."""
        for reason in (self.decode_error, self.panic):
            if reason is not None:
                _print(console, f"OCM decides nothing: {reason}")
        if self.skipped:
            console.print("OCM passes this Placement over: it is disabled, or being deleted.")
        status = self.schedule_status
        if status is not None and status.code != "Success":
            plugin = f"{status.plugin}: " if status.plugin else ""
            _print(console, f"{status.code}: {plugin}{status.message}")
        if self.available_clusters:
            console.print(_table(self))
        for name, condition in (self.status.conditions if self.status else {}).items():
            _print(console, f"{name}: {condition.reason}: {condition.message}")
        if self.requeue_time:
            console.print(f"OCM looks again at {self.requeue_time}")


def _print(console: Console, line: str) -> None:
    console.print(Text(escape_line(line)), soft_wrap=True)


def _table(document: PlacementDocument) -> Table:
    table = Table(box=None, pad_edge=False)
    prioritizers = document.prioritize_results or ()
    weighted = (f"{p.name} × {p.weight}" for p in prioritizers)
    columns = ["cluster", *weighted, "total", "decision group"]
    for name in columns:
        is_text = name in {"cluster", "decision group"}
        table.add_column(Text(escape_line(name)), justify="left" if is_text else "right")
    groups = {
        cluster: group.decision_group_name or f"#{group.decision_group_index}"
        for group in document.decision_groups or ()
        for cluster in group.clusters
    }
    scored = [entry.cluster_name for entry in document.aggregated_scores or ()]
    totals = {entry.cluster_name: entry.score for entry in document.aggregated_scores or ()}
    rest = [name for name in document.available_clusters or () if name not in totals]
    for name in [*scored, *rest]:
        scores = [str(p.scores.get(name, 0)) if name in totals else "" for p in prioritizers]
        verdict = groups.get(name) or ("not chosen" if name in totals else _dropped(document, name))
        total = str(totals[name]) if name in totals else ""
        table.add_row(*(Text(escape_line(text)) for text in (name, *scores, total, verdict)))
    return table


def _dropped(document: PlacementDocument, name: str) -> str:
    """Name the filter that dropped a cluster."""
    for result in document.filtered_pipeline_results or ():
        if name not in result.filtered_clusters:
            return f"dropped by {result.name.rpartition(',')[2]}"
    return ""
