"""The report of `kalypso render`, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.model.tree import LeftOutApplication, TreeChanges
from kalypso_actions.report.change_counts import change_counts
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    AssignmentEntry,
    ChangesEntry,
    FileDiffEntry,
    LeftOutEntry,
    PositionEntry,
    ProblemEntry,
    RenderDocument,
    SourceEntry,
)
from kalypso_actions.report.finding_counts import finding_counts, hidden_counts
from kalypso_actions.report.rows_on_demand import rows
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    not_compared,
    print_acknowledged,
    print_findings,
    print_notes,
    print_position,
)
from kalypso_actions.report.terminal_escaping import escape_log_line
from kalypso_actions.report.trimmed import print_table

TABLE_LIMIT = 500
"""The most assignments and deleted files to show; the JSON output has all."""


class PlannedRow(Protocol):
    """An assignment, its namespace, and the names of its files."""

    @property
    def assignment(self) -> Assignment:
        """The target and the cluster type."""

    @property
    def namespace(self) -> str:
        """The namespace of the target on the cluster type."""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files in the folder; () for a failure."""


def render_document(
    *,
    environment: str,
    main: BranchPosition | None,
    sources: Iterable[tuple[str, Revision]],
    planned: Sequence[PlannedRow],
    changes: TreeChanges | None,
    folder: str,
    degraded: bool,
    left_out: Iterable[LeftOutApplication],
    problems: Iterable[Problem],
    warnings: Iterable[Problem],
    notes: Iterable[Problem] = (),
    acknowledged: Iterable[Problem] = (),
    diffs: tuple[FileDiffEntry, ...] = (),
    commit: str = "",
) -> RenderDocument:
    """Build the JSON document.

    `changes` is None if faults make them unknown; `folder` is the tree's folder in the repository
    ("": its root).
    """
    prefix = f"{folder}/" if folder else ""
    return RenderDocument(
        environment=environment,
        main=PositionEntry.of(environment, main) if main else None,
        sources=SourceEntry.all_of(sources),
        assignments=rows(len(planned), lambda: (_assignment_entry(row, prefix) for row in planned)),
        compared=changes is not None,
        changes=_changes_entry(changes) if changes else ChangesEntry(),
        diffs=diffs,
        commit=commit,
        degraded=degraded,
        left_out=LeftOutEntry.all_of(left_out),
        notes=ProblemEntry.all_of(notes),
        acknowledged=AcknowledgedEntry.all_of(acknowledged),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )


def _assignment_entry(row: PlannedRow, prefix: str) -> AssignmentEntry:
    assignment = row.assignment
    place = f"{prefix}{assignment.folder}/"
    return AssignmentEntry(
        workload=assignment.target.workload,
        deployment_target=assignment.target.name,
        cluster_type=assignment.cluster_type.name,
        policies=assignment.policies,
        namespace=row.namespace,
        files=tuple([place + name for name in row.files]),
    )


def _changes_entry(changes: TreeChanges) -> ChangesEntry:
    return ChangesEntry(
        added=changes.added,
        modified=changes.modified,
        deleted=changes.deleted,
        unchanged=changes.unchanged,
    )


def print_render(
    console: Console, document: RenderDocument, files: Files = NO_FILES, *, with_notes: bool = False
) -> None:
    """Print the assignments, the changes, and the findings with their numbers.

    If faults make the changes unknown, print only that.
    """
    if document.main:
        print_position(console, document.main)
    if document.compared:
        _print_assignments(console, document)
        changes = document.changes
        console.print(f"\nmanifests: {change_counts(changes, with_unchanged=True)}")
        for path in changes.deleted[:TABLE_LIMIT]:
            console.print(Text(f"  deleted {escape_log_line(path)}"), soft_wrap=True)
        _print_hidden(console, len(changes.deleted) - TABLE_LIMIT, "deleted files")
    else:
        _print_not_compared(console, document, files)
    print_render_findings(console, document, files, with_notes=with_notes)


def _print_not_compared(console: Console, document: RenderDocument, files: Files) -> None:
    reason = escape_log_line(not_compared(document.problems, files))
    console.print(Text(f"manifests: {reason}"), soft_wrap=True)


def print_render_findings(
    console: Console, document: RenderDocument, files: Files = NO_FILES, *, with_notes: bool = False
) -> None:
    """Print the findings with their numbers."""
    if with_notes:
        print_notes(console, document.notes, files)
        print_acknowledged(console, document.acknowledged, files)
    main = document.main
    commits = {main.commit: f"{main.branch} at {main.commit[:7]}"} if main else {}
    print_findings(console, document.warnings, document.problems, files, commits=commits)
    rest = "" if with_notes else ", ".join(hidden_counts(document.notes, document.acknowledged))
    counts = finding_counts(document.problems, document.warnings)
    for entry in document.left_out:
        line = escape_log_line(f"registration {entry.registration!r} {entry.text}")
        console.print(Text(line), soft_wrap=True)
    console.print(f"{counts}{f', {rest}: --notes shows more' if rest else ''}")


def _print_assignments(console: Console, document: RenderDocument) -> None:
    if not document.assignments:
        console.print(f"{document.environment}: no assignments")
        return
    lines = []
    for entry in document.assignments[:TABLE_LIMIT]:
        names = ", ".join(path.rpartition("/")[2] for path in entry.files) or "none: see below"
        cells = entry.deployment_target, entry.cluster_type, ", ".join(entry.policies), names
        lines.append([escape_log_line(cell) for cell in cells])
    print_table(console, ("target", "cluster type", "policies", "files"), lines)
    _print_hidden(console, len(document.assignments) - TABLE_LIMIT, "assignments")


def _print_hidden(console: Console, number: int, noun: str) -> None:
    if number > 0:
        console.print(f"… and {number} more {noun}; --output json lists all")
