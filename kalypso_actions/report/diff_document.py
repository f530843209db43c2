"""The output of `kalypso diff`: its document, and its text."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.comparison_entries import (
    ComparisonEntry,
    comparison_lines,
    document_lines,
)
from kalypso_actions.report.diff_view import MOST_LINES, capped, shown_diffs
from kalypso_actions.report.documents import Document, FileDiffEntry, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import styled


class CommitEntry(Document):
    """A commit, the first line of its message, and its page ("" without one)."""

    commit: str
    subject: str
    url: str


class CommitRangeEntry(Document):
    """The commits of a repository that `head` has and `base` lacks.

    `commits` are the newest of `total`, which is null if it is unknown; `behind` counts those that
    `base` has and `head` lacks.
    """

    repository: str
    name: str
    base: str
    head: str
    url: str
    commits: tuple[CommitEntry, ...]
    total: int | None
    behind: int


class DiffSideEntry(Document):
    """A side: an environment, its commit of main, and of the GitOps branch if it is deployed."""

    environment: str
    commit: str
    gitops_commit: str = ""


class DiffDocument(Document):
    """The output of `kalypso diff --output json`: the changes from `base` to `head`.

    `comparison` compares plans of `environment`, or the `deployed` trees.
    """

    schema_name: str = Field("kalypso.diff/v1", alias="schema")
    environment: str = ""
    deployed: bool = False
    base: DiffSideEntry | None = None
    head: DiffSideEntry | None = None
    commits: tuple[CommitRangeEntry, ...] = ()
    comparison: ComparisonEntry = Field(default_factory=ComparisonEntry)
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        changes = self.comparison
        return bool(
            any(item.base != item.head for item in self.commits)
            or changes.assignments_added
            or changes.assignments_removed
            or changes.files_changed
            or changes.values_changed
            or changes.documents
        )


def diff_report(console: Console, document: DiffDocument, *, stat: bool) -> Iterator[str]:
    """Yield the lines: commits, documents, assignments, values, then diffs or their summary."""
    if document.base is None or document.head is None:
        return
    yield styled(console, f"{_side(document.base)} → {_side(document.head)}", "bold")
    if not document.differs:
        yield _no_differences(document.base, document.head, deployed=document.deployed)
        return
    for item in document.commits:
        if item.base != item.head:
            yield from _commits(console, item)
    comparison = document.comparison
    others = comparison.model_copy(update={"files": (), "documents": ()})
    for heading, lines in (
        ("documents", list(document_lines(comparison))),
        ("assignments and values", list(comparison_lines(others))),
    ):
        if lines:
            yield from ("", styled(console, heading, "bold"), *capped(console, lines))
    diffs = [FileDiffEntry.of(file.path, file.change, file.diff or "") for file in comparison.files]
    if diffs:
        yield ""
        yield from shown_diffs(console, diffs, stat=stat, lines=not stat)


def _no_differences(base: DiffSideEntry, head: DiffSideEntry, *, deployed: bool) -> str:
    """Return the message; the branches of two environments may differ in other ways."""
    if deployed or base.environment == head.environment:
        return "no differences"
    return (
        f"no differences: {base.environment} has everything of main that {head.environment} has. "
        "--deployed also shows what the branch of each sets itself"
    )


def _side(side: DiffSideEntry) -> str:
    commit = side.commit[:7] or "no commit of main"
    deployed = f" (GitOps branch at {side.gitops_commit[:7]})" if side.gitops_commit else ""
    return f"{side.environment} at {commit}{deployed}"


def _commits(console: Console, item: CommitRangeEntry) -> Iterator[str]:
    amount = "commits" if item.total is None else counted(item.total, "commit")
    back = counted(item.behind or 0, "commit goes back", "commits go back") if item.behind else ""
    amounts = [amount if item.total != 0 or not back else "", back]
    yield ""
    heading = f"{item.name}: {', '.join(filter(None, amounts))} ({item.base[:7]}..{item.head[:7]})"
    yield styled(console, heading, "bold")
    for commit in item.commits[:MOST_LINES]:
        yield f"  {styled(console, commit.commit[:7], 'yellow')} {escape_log_line(commit.subject)}"
    more = (item.total or 0) - len(item.commits)
    if item.commits and more > 0:
        yield f"  … and {more} more"
