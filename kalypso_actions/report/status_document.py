"""The JSON output of status."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import Field

from kalypso_actions.model.overviews import CommitView
from kalypso_actions.report.documents import Document, ProblemEntry


class CommitViewEntry(Document):
    """A commit of main."""

    commit: str
    subject: str
    author: str
    committed_at: datetime

    @classmethod
    def of(cls, commit: CommitView | None) -> Self | None:
        """Convert a commit; None stays None."""
        if commit is None:
            return None
        return cls(
            commit=commit.id,
            subject=commit.subject,
            author=commit.author,
            committed_at=commit.committed_at,
        )


class StateEntry(Document):
    """The state of the promoted commit in an environment, as the latest status says.

    `author` and `at` are those of the status, "" and null without one; `url` is its link.
    """

    text: str
    state: Literal["", "error", "failure", "pending", "success"]
    author: str = ""
    at: datetime | None = None
    url: str = ""


class ProposalEntry(Document):
    """An open pull request to a branch of an environment."""

    repository: str
    number: int
    title: str
    url: str
    author: str
    created_at: datetime


class WaitEntry(Document):
    """A wait of an environment, or of main, and the page for it ("" without one)."""

    waits_for: Literal["people", "clusters", "a run", "an environment"]
    text: str
    url: str


class GitOpsBranchEntry(Document):
    """A GitOps branch: its head, the commit of main that its tree names, and its assignments."""

    repository: str
    branch: str
    commit: str
    promoted_commit: str
    assignments: int


class IssueEntry(Document):
    """An open issue about a failing assignment or an unusable registration."""

    repository: str
    number: int
    title: str
    url: str


class ClusterStateEntry(Document):
    """A cluster that does not comply; without `id` and `name`, a cluster type without a cluster.

    `cluster_type` is "" for a cluster that follows the whole tree.
    """

    id: str = ""
    name: str = ""
    cluster_type: str
    state: str
    reason: str


class EnvironmentStatusEntry(Document):
    """An environment.

    `commit` is the one of main that its branch names (null: none, or unknown), `ahead` the number
    of commits that main has after it. `assignments` are those of the merged trees; `failing` and
    `degraded` the numbers of assignments without files and of registrations that cannot be used, as
    the open issues say. `clusters` are numbers by state, and `not_compliant` the clusters that do
    not comply, the worst first; both are null without `--clusters`.
    """

    environment: str
    branch: str
    commit: CommitViewEntry | None
    ahead: int | None
    state: StateEntry
    next_environments: tuple[str, ...]
    assignments: int
    failing: int
    degraded: int
    gitops: tuple[GitOpsBranchEntry, ...] = ()
    pull_requests: tuple[ProposalEntry, ...] = ()
    issues: tuple[IssueEntry, ...] = ()
    waits: tuple[WaitEntry, ...] = ()
    clusters: dict[str, int] | None = None
    not_compliant: tuple[ClusterStateEntry, ...] | None = None
    problems: tuple[ProblemEntry, ...] = ()


class StatusDocument(Document):
    """The output of `kalypso status --output json`: the pipeline `at` one moment.

    `ci` is the state of the status `kalypso / ci` of the head of main, `waits` are the open pull
    requests to main.
    """

    schema_name: str = Field("kalypso.status/v1", alias="schema")
    control_plane: str = ""
    at: datetime | None = None
    main: CommitViewEntry | None = None
    ci: str = ""
    waits: tuple[WaitEntry, ...] = ()
    environments: tuple[EnvironmentStatusEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
