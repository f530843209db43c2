"""The JSON output of diff."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field

from kalypso_actions.model.differences import CommitRange
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import Document, ProblemEntry


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

    @classmethod
    def all_of(cls, ranges: Iterable[CommitRange]) -> tuple[Self, ...]:
        """Convert ranges, in order."""
        return tuple(
            cls(
                repository=item.repository,
                name=item.name,
                base=item.base,
                head=item.head,
                url=item.url,
                commits=tuple(
                    CommitEntry(commit=each.commit, subject=each.subject, url=each.url)
                    for each in item.commits
                ),
                total=item.total,
                behind=item.behind,
            )
            for item in ranges
        )


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
