"""The JSON output of `kalypso observe`, and its step summary."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar

from pydantic import Field

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import (
    EVENT_OUTPUTS,
    SUMMARIES,
    EventDocument,
)
from kalypso_actions.report.documents import OutputDocument


class ObservedEnvironmentEntry(OutputDocument):
    """An environment in the record.

    `complete`: every source answered. `targets` are the folders of cluster types and the targets of
    applications with a content; `clusters` are those that report, `current` those of them that run
    what they should, and `failing` those with a failure.
    """

    environment: str
    complete: bool
    targets: int
    clusters: int
    current: int
    failing: int


class ObserveDocument(EventDocument):
    """The output of `kalypso observe --output json`; `commit` is the record's newest one.

    `pruned_before` is the time of `--prune-before`, null for a look.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the look has changed the record.",
        **EVENT_OUTPUTS,
    }

    schema_name: str = Field("kalypso.observe/v1", alias="schema")
    control_plane: str = ""
    record: str = ""
    at: datetime | None = None
    commit: str = ""
    changed: bool = False
    pruned_before: datetime | None = None
    environments: tuple[ObservedEnvironmentEntry, ...] = ()


def observe_headline(document: ObserveDocument) -> str:
    """Return the result as a line."""
    clusters = counted(sum(each.clusters for each in document.environments), "cluster")
    if document.pruned_before:
        time = f"{document.pruned_before:%Y-%m-%d %H:%M} UTC"
        if not document.changed:
            return f"the record has nothing to prune before {time}"
        return f"pruned the record before {time} as {document.commit[:7]}"
    if not document.changed:
        return f"nothing has changed for {clusters}"
    return f"recorded {clusters} as {document.commit[:7]}"


def observe_summary(document: ObserveDocument) -> str:
    """Return the step summary."""
    return markdown.render(
        SUMMARIES, "observe", document=document, headline=observe_headline(document)
    )
