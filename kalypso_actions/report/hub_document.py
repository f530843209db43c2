"""The output of `kalypso hub file` and `kalypso hub load`: how far the record is loaded."""

from __future__ import annotations

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.terminal import print_line


class HubDocument(OutputDocument):
    """The output of `kalypso hub file` and `hub load` with `--output json`.

    `commit` is the one of the record up to which everything is loaded; `changed` is false if it
    already was. The numbers are those of all periods, of clusters and of what they should run.
    """

    schema_name: str = Field("kalypso.hub/v1", alias="schema")
    record: str = ""
    commit: str = ""
    changed: bool = False
    clusters: int = 0
    cluster_periods: int = 0
    desired_periods: int = 0
    problems: tuple[ProblemEntry, ...] = ()


def print_hub(console: Console, document: HubDocument) -> None:
    """Print up to where the record is loaded, and how much that is."""
    word = "loaded" if document.changed else "already loaded"
    print_line(console, f"{document.record} is {word} up to {document.commit[:7]}")
    numbers = (
        counted(document.clusters, "cluster"),
        counted(document.cluster_periods, "period"),
        counted(document.desired_periods, "desired period"),
    )
    print_line(console, ", ".join(numbers))
