"""The report of `kalypso placement`, for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.placement_document import PlacementDocument
from kalypso_actions.report.terminal_escaping import escape_line


def print_placement(console: Console, document: PlacementDocument) -> None:
    """Print one row for each candidate: the filter that dropped it, or its scores and the cut."""
    for name in ("decode_error", "panic"):
        text = getattr(document, name)
        if text is not None:
            console.print(Text(f"OCM decides nothing: {escape_line(text)}"), soft_wrap=True)
    if document.skipped:
        console.print("OCM passes this Placement over: it is disabled, or being deleted.")
    status = document.schedule_status
    if status is not None and status.code != "Success":
        plugin = f"{status.plugin}: " if status.plugin else ""
        text = f"{status.code}: {plugin}{status.message}"
        console.print(Text(escape_line(text)), soft_wrap=True)
    if document.available_clusters:
        console.print(_table(document))
    for name, condition in (document.status.conditions if document.status else {}).items():
        text = f"{name}: {condition.reason}: {condition.message}"
        console.print(Text(escape_line(text)), soft_wrap=True)
    if document.requeue_time:
        console.print(f"OCM looks again at {document.requeue_time}")


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
