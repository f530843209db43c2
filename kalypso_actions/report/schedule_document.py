"""The output of `kalypso schedule`: its document, and its step summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from pydantic import Field

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import (
    ChangesEntry,
    LeftOutEntry,
    OutputDocument,
    PositionEntry,
)
from kalypso_actions.report.markdown import CommitLink, code, some

MOST_LINES: Final = 500

MATRIX_ROWS: Final = 30
MATRIX_COLUMNS: Final = 12
"""The largest table of the assignments; a larger one is no help."""


class PullRequestEntry(OutputDocument):
    """A pull request of ours, and the `action` of this run on it.

    `auto_merge` means that GitHub merges it as soon as its requirements are met. `title` says what
    it means ("" for a closed one).
    """

    repository: str
    number: int
    title: str = ""
    url: str
    action: Literal["created", "updated", "unchanged", "withdrawn", "merged"]
    auto_merge: bool = False

    @property
    def name(self) -> str:
        """The repository, and the number."""
        return f"{self.repository}#{self.number}"


class ScheduleDocument(ChainDocument):
    """The output of `kalypso schedule --output json`.

    `digest` is that of the first GitOpsRepo. `left_out` are the applications that are frozen or
    missing.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the tree differs from that of the GitOps branch.",
        "promoted": "true if the promoted commit differs from that of the GitOps branch.",
        "degraded": "true if a registered repository could not be used.",
        "assignments": "The number of assignments.",
        "digest": "A hash of the tree for the first GitOpsRepo.",
        "requeue-time": "When Placements may decide otherwise without any change, or empty.",
        "pull-requests": "The repository, number, url and action of each pull request (JSON).",
        "pull-request-number": "The number of the first pull request.",
        "pull-request-url": "The page of the first pull request.",
    }

    schema_name: str = Field("kalypso.schedule/v1", alias="schema")
    environment: str = ""
    main: PositionEntry | None = None
    changed: bool = False
    promoted: bool = False
    degraded: bool = False
    left_out: tuple[LeftOutEntry, ...] = ()
    assignments: int = 0
    requeue_time: str = ""
    digest: str = ""
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    pull_requests: tuple[PullRequestEntry, ...] = ()
    pull_request_number: int | None = None
    pull_request_url: str = ""


@dataclass(frozen=True, slots=True)
class AssignmentCell:
    """An assignment; `failed` means that it has no files."""

    target: str
    workspace: str
    cluster_type: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ScheduleFacts:
    """Facts that the document lacks.

    `branches` are the GitOps branches, `removed` the folders that a mass removal would delete.
    `stopped` means that people have rejected the proposal, and `waiting_for` is the hold or freeze
    for which nothing is proposed. `started` are the URLs of
    check-promote's runs, `cells` the assignments. `earlier_run` is the page of a run with the same
    inputs, which this run repeats.
    """

    main: CommitLink | None = None
    branches: Sequence[str] = ()
    removed: Sequence[str] = ()
    stopped: bool = False
    waiting_for: str = ""
    started: Sequence[str] = ()
    cells: Sequence[AssignmentCell] = ()
    earlier_run: str = ""


def schedule_summary(document: ScheduleDocument, facts: ScheduleFacts) -> str:
    """Return the step summary."""
    waiting = {
        entry.name: entry.url
        for entry in document.pull_requests
        if entry.action in {"created", "updated", "unchanged"} and not entry.auto_merge
    }
    return markdown.render(
        "summaries.md.j2",
        "schedule",
        document=document,
        facts=facts,
        headline=headline(document, facts),
        waiting=waiting,
        removed=_listing("These assignments would be removed", map(code, facts.removed)),
        left_out=_listing(
            "These registrations are left out",
            (f"{code(item.registration)} {item.text}" for item in document.left_out),
        ),
        matrix=assignment_matrix(facts.cells),
    )


def _listing(title: str, lines: Iterable[str]) -> str:
    items = some([f"- {line}" for line in lines], MOST_LINES)
    return "\n".join([f"**{title}:**", "", *items]) if items else ""


def headline(document: ScheduleDocument, facts: ScheduleFacts) -> str:
    """Return the result as a line of plain text."""
    name = document.environment
    if facts.removed and document.problems:
        return f"{name} would lose many assignments, so nothing was written"
    if document.problems and not document.pull_requests:
        return f"{name} is not proposed"
    done = [f"#{entry.number} {_done(entry)}" for entry in document.pull_requests]
    if done:
        return f"{name}: {', '.join(done)}"
    if facts.stopped:
        return f"the changes of {name} were rejected, so nothing is proposed"
    if facts.waiting_for:
        return f"{name} has changes that are not proposed now: {facts.waiting_for}"
    return f"{name} is up to date; nothing is left to propose"


def _done(entry: PullRequestEntry) -> str:
    return "is open already" if entry.action == "unchanged" else f"was {entry.action}"


def assignment_matrix(cells: Sequence[AssignmentCell]) -> str:
    """Return a collapsed table: a row per target, or per workspace; a column per cluster type.

    Rows are workspaces if there are too many targets. Returns "" without assignments, and for a
    fleet that is too large for either table.
    """
    columns = sorted({cell.cluster_type for cell in cells})
    targets = {cell.target: cell.target for cell in cells}
    workspaces = {cell.target: cell.workspace for cell in cells}
    for noun, row_of in (("Target", targets), ("Workspace", workspaces)):
        rows = sorted(set(row_of.values()))
        if not rows or len(rows) > MATRIX_ROWS or len(columns) > MATRIX_COLUMNS:
            continue
        total = Counter((row_of[cell.target], cell.cluster_type) for cell in cells)
        failed = Counter((row_of[cell.target], cell.cluster_type) for cell in cells if cell.failed)
        by_target = row_of is targets
        lines = [
            [
                code(row),
                *(_cell(total[row, name], failed[row, name], by_target) for name in columns),
            ]
            for row in rows
        ]
        head = [noun, *map(code, columns)]
        title = f"{counted(len(cells), 'assignment')} on {counted(len(columns), 'cluster type')}"
        return markdown.details(title, markdown.table(head, lines))
    return ""


def _cell(total: int, failed: int, by_target: bool) -> str:
    if not total:
        return ""
    if by_target:
        return "✗" if failed else "✓"
    return f"{total} ({failed} ✗)" if failed else str(total)
