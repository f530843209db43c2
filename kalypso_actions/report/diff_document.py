"""The output of `kalypso diff`: its document, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.comparison_entries import (
    ComparisonEntry,
    comparison_lines,
    document_lines,
)
from kalypso_actions.report.documents import FileDiffEntry, OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import styled


class CommitEntry(OutputDocument):
    """A commit, the first line of its message, and its page ("" without one)."""

    commit: str
    subject: str
    url: str


class CommitRangeEntry(OutputDocument):
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


class DiffSideEntry(OutputDocument):
    """A side: an environment, its commit of main, and of the GitOps branch if it is deployed."""

    environment: str
    commit: str
    gitops_commit: str = ""


class DiffDocument(OutputDocument):
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
        return self.comparison.differs or any(item.base != item.head for item in self.commits)


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


STYLES: Final = {"added": "green", "modified": "yellow", "deleted": "red"}
OF_LINES: Final = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}

LONGEST_BAR: Final = 40

MOST_LINES: Final = 200
"""The most lines of a list; the JSON output has all."""


def shown_diffs(
    console: Console, diffs: Sequence[FileDiffEntry], *, stat: bool, lines: bool
) -> Iterator[str]:
    """Yield the summary, the lines of the diffs, or both."""
    if stat:
        yield from stat_lines(console, diffs)
    if stat and lines and diffs:
        yield ""
    if lines:
        yield from diff_lines(console, diffs)


def diff_lines(console: Console, diffs: Iterable[FileDiffEntry]) -> Iterator[str]:
    """Yield the lines of all diffs, coloured if the console has colours."""
    for entry in diffs:
        in_head = True
        for line in entry.diff.removesuffix("\n").split("\n"):
            in_head = in_head and not line.startswith("@@")
            yield styled(console, line, "bold" if in_head else OF_LINES.get(line[:1], ""))


def stat_lines(console: Console, diffs: Sequence[FileDiffEntry]) -> Iterator[str]:
    """Yield a line for each file: the change, its path, and the number of its changed lines."""
    most = max((entry.insertions + entry.deletions for entry in diffs), default=0)
    number = len(str(most))
    paths = [escape_log_line(entry.path) for entry in diffs]
    bar = min(most, max(10, min(LONGEST_BAR, console.width // 3)))
    longest = max(20, console.width - len("modified  ") - len(" | ") - number - 1 - bar)
    width = min(max(map(len, paths), default=0), longest)
    for entry, path in zip(diffs, paths, strict=True):
        inserted, deleted = _bar(entry, most, bar)
        place = path if len(path) <= width else f"…{path[len(path) - width + 1 :]}"
        change = styled(console, f"{entry.change:<8}", STYLES[entry.change])
        lines = entry.insertions + entry.deletions
        signs = styled(console, "+" * inserted, "green") + styled(console, "-" * deleted, "red")
        yield f"{change}  {place:<{width}} | {lines:>{number}} {signs}".rstrip()
    yield diff_counts(diffs)


def diff_counts(diffs: Sequence[FileDiffEntry]) -> str:
    """Return `3 files: 1 added, 2 modified, 0 deleted; 5 insertions(+), 2 deletions(-)`."""
    changes: list[str] = [entry.change for entry in diffs]
    words = ", ".join(f"{changes.count(change)} {change}" for change in STYLES)
    inserted = counted(sum(entry.insertions for entry in diffs), "insertion")
    deleted = counted(sum(entry.deletions for entry in diffs), "deletion")
    return f"{counted(len(diffs), 'file')}: {words}; {inserted}(+), {deleted}(-)"


def _bar(entry: FileDiffEntry, most: int, longest: int) -> tuple[int, int]:
    """Return the lengths of the two parts of a bar; a part of a change is never empty."""
    if most <= longest:
        return entry.insertions, entry.deletions
    lengths = (entry.insertions * longest // most, entry.deletions * longest // most)
    return (
        max(lengths[0], 1 if entry.insertions else 0),
        max(lengths[1], 1 if entry.deletions else 0),
    )


def capped(
    console: Console, lines: Sequence[tuple[str, str]], most: int = MOST_LINES
) -> Iterator[str]:
    """Yield the first lines, which come after their styles, indented, and the number of others."""
    for style, line in lines[:most]:
        yield f"  {styled(console, line, style)}"
    if len(lines) > most:
        yield f"  … and {len(lines) - most} more; --output json lists all"
