"""A source of cluster reports.

`commands.shared.cluster_reports` finds sources by name: ours, and those that other packages
register as entry points of the group `kalypso_actions.cluster_reports`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, FollowedTree
from kalypso_actions.model.urls import repository_key


class ClusterReports(Protocol):
    """A source of reports on the clusters that follow GitOps branches.

    `title` names it for people. `no_reports_advice` says what to check if no cluster reports.
    `knows_all_clusters`: a cluster that follows the branch is never left out of the reports.
    """

    title: str
    no_reports_advice: str

    @property
    def knows_all_clusters(self) -> bool:
        """Whether a cluster that does not report is among the reports all the same."""

    def check_inputs(self, followed: FollowedTree) -> None:
        """Raise UsageError if the inputs are missing or wrong; send one request at most."""

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests; "" for none."""

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return the reports of all clusters that follow the branch, in whatever state.

        Raise KalypsoError if any report may be missing: an overlooked cluster would count as
        compliant.
        """

    def close(self) -> None:
        """Close the connections."""


LOOKUP_INTERVAL: Final = timedelta(minutes=5)
"""The time between two questions about the same branch or cluster: the answers rarely change."""


@runtime_checkable
class FollowerLookup(Protocol):
    """A source that can list clusters by the name of a branch alone. Sources may leave it out."""

    def followers(self, branch: str) -> Sequence[BranchFollower]:
        """Return the clusters that follow a branch of this name, of any repository."""


@dataclass(frozen=True, slots=True)
class FleetAnswer:
    """The reports of all clusters by the key of a repository and a branch.

    `problems` are those of reports that cannot be read; ("", "") has those without a branch.
    """

    reports: Mapping[tuple[str, str], Sequence[ClusterReport]]
    problems: Mapping[tuple[str, str], tuple[Problem, ...]] = field(default_factory=dict)

    def of(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return the reports of a branch. Raise KalypsoError if one of them cannot be read."""
        place = repository_key(followed.repository_url), followed.branch
        if problems := (*self.problems.get(("", ""), ()), *self.problems.get(place, ())):
            raise KalypsoError.of(problems)
        return self.reports.get(place, ())


@runtime_checkable
class FleetReports(Protocol):
    """A source that can report on all branches at once. Sources may leave it out.

    Without it, `kalypso observe` asks for the reports of each branch.
    """

    def all_reports(self) -> FleetAnswer:
        """Return the reports of all clusters.

        Raise UsageError if the inputs do not suffice, KalypsoError if any report may be missing.
        """


@runtime_checkable
class SourceWarnings(Protocol):
    """A source that warns of what it cannot use. Sources may leave it out."""

    def warnings(self) -> Sequence[Problem]:
        """Return the warnings of the last look."""


@runtime_checkable
class DeletionLookup(Protocol):
    """A source that knows whether clusters exist. Sources may leave it out."""

    def deleted(self, clusters: Iterable[str]) -> Collection[str]:
        """Return those of the clusters that certainly no longer exist."""
