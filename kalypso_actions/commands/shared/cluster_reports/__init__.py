"""Sources of cluster reports by name: ours, and those that others register as entry points.

with closing(open_cluster_reports(inputs, context)) as source:
    source.check_inputs(followed)
    source.reports(followed)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, Final, Protocol, runtime_checkable

from kalypso_actions.commands.shared.cluster_reports.argocd import ArgoCDApplications
from kalypso_actions.commands.shared.cluster_reports.azure import AzureResourceGraph
from kalypso_actions.commands.shared.cluster_reports.command import CommandReports
from kalypso_actions.commands.shared.cluster_reports.commit_statuses import CommitStatuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import EnvironmentTree
from kalypso_actions.compliance.interface import ClusterReports, SourceWarnings
from kalypso_actions.doctor_rules.check import Check
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.gitops.own_files import assigned_cluster_types, cluster_type_folders
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, ClusterSources
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, FollowedTree
from kalypso_actions.model.entry_points import find_implementation
from kalypso_actions.model.kinds import ClusterType
from kalypso_actions.model.tree import BaseTree, GitOpsBranch

Source = Callable[[ClusterSources, CommandContext], ClusterReports]

OWN: Final[Mapping[str, Source]] = {
    DEFAULT_CLUSTER_REPORTS: AzureResourceGraph,
    "argocd": ArgoCDApplications,
    "command": CommandReports,
    "commit-statuses": CommitStatuses,
}
ENTRY_POINT_GROUP: Final = "kalypso_actions.cluster_reports"


def open_cluster_reports(inputs: ClusterSources, context: CommandContext) -> AddedReports:
    """Return the sources that the input cluster-reports names, added up.

    Raise UsageError if no source of such a name is installed.
    """
    sources: list[ClusterReports] = []
    for name in dict.fromkeys(inputs.cluster_reports):
        missing = f"cluster-reports: there is no source {name!r}"
        source: Any = find_implementation(name, OWN, ENTRY_POINT_GROUP, missing)(inputs, context)
        is_former = not hasattr(source, "knows_all_clusters")
        sources.append(_FormerSource(source) if is_former else source)
    if not sources:
        raise UsageError("cluster-reports is empty", advice="name a source, or remove the input")
    return AddedReports(sources)


def environment_tree(
    tree: BaseTree | None, cluster_types: Sequence[ClusterType]
) -> EnvironmentTree:
    """Return an environment's tree in a branch; one without assignments if none is known yet."""
    if tree is None:
        return EnvironmentTree("", frozenset())
    names = [cluster_type.name for cluster_type in cluster_types]
    return EnvironmentTree(
        tree.path,
        cluster_type_folders(tree.entries, tree.path, names),
        assigned_cluster_types(tree.entries, tree.path, names),
        frozenset(each.name for each in cluster_types if not each.reports_compliance),
        {each.name: each.clusters for each in cluster_types},
    )


MOST_COMMITS: Final = 100
"""The newest commits of a branch on which clusters may report."""


def followed_tree(
    context: CommandContext, branch: GitOpsBranch, head: str, tree: EnvironmentTree
) -> FollowedTree:
    """Return a branch outside of a promotion: the newest commits of its first-parent line count.

    Raise KalypsoError if its history cannot be read.
    """
    commits = context.remotes.ancestry(branch.url, head).first_parents()
    return tree.followed(branch.url, branch.branch, tuple(islice(commits, MOST_COMMITS)))


@runtime_checkable
class SourceChecks(Protocol):
    """A source with checks for `kalypso doctor`. Sources may leave it out."""

    def checks(self, followed: FollowedTree) -> Sequence[Check]:
        """Return checks of how clusters report, after `reports` of the same tree."""


def observe(
    source: ClusterReports, followed: FollowedTree
) -> tuple[Sequence[ClusterReport], tuple[Problem, ...]]:
    """Return the reports and the warnings of a source where no promotion waits for them.

    A source that may overlook clusters is a warning here. Raise KalypsoError if the source lacks
    inputs or cannot be read.
    """
    warnings: list[Problem] = []
    try:
        source.check_inputs(followed)
    except UsageError as error:
        warnings += error.problems
    reports = source.reports(followed)
    if isinstance(source, SourceWarnings):
        warnings += source.warnings()
    return reports, tuple(dict.fromkeys(warnings))


class AddedReports:
    """Several sources: all reports count, and all sources must be readable."""

    def __init__(self, sources: Sequence[ClusterReports]) -> None:
        self.sources = tuple(sources)
        self.title = " and ".join(source.title for source in sources)
        self.no_reports_advice = "; ".join(source.no_reports_advice for source in sources)
        pauses = (getattr(source, "shortest_pause", timedelta()) for source in sources)
        self.shortest_pause: timedelta = max(pauses)
        """The shortest time between two looks that the servers of the sources should bear."""

    @property
    def knows_all_clusters(self) -> bool:
        """Whether no source overlooks a cluster that nobody lists."""
        return all(source.knows_all_clusters for source in self.sources)

    def check_inputs(self, followed: FollowedTree) -> None:
        """Check the inputs of each source. Raise UsageError, or KalypsoError without an answer."""
        for source in self.sources:
            source.check_inputs(followed)

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests."""
        return "; ".join(filter(None, (source.setup_advice() for source in self.sources)))

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return the reports of all sources. Raise KalypsoError if one of them cannot be read."""
        return tuple(report for source in self.sources for report in source.reports(followed))

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings of the last look."""
        return self._of_each("warnings")

    def checks(self, followed: FollowedTree) -> tuple[Check, ...]:
        """Return the checks of all sources. Raise KalypsoError without an answer."""
        return self._of_each("checks", followed)

    def followers(self, branch: str) -> tuple[BranchFollower, ...]:
        """Return the clusters that follow a branch of this name, as far as sources can tell."""
        return self._of_each("followers", branch)

    def deleted(self, clusters: Iterable[str]) -> Collection[str]:
        """Return those of the clusters that certainly no longer exist."""
        return frozenset(self._of_each("deleted", tuple(clusters)))

    def _of_each(self, method: str, *given: object) -> tuple[Any, ...]:
        """Return what a method of the sources returns, which sources may leave out."""
        able = (getattr(source, method, None) for source in self.sources)
        return tuple(item for call in able if call for item in call(*given))

    def close(self) -> None:
        """Close the connections of all sources."""
        for source in self.sources:
            source.close()


class _FormerSource:
    """A source of another package whose methods do not take a `FollowedTree` yet."""

    knows_all_clusters = True

    def __init__(self, source: Any) -> None:
        self._source = source
        self.title: str = source.title
        self.no_reports_advice: str = source.no_reports_advice
        for name in ("followers", "deleted"):
            if hasattr(source, name):
                setattr(self, name, getattr(source, name))

        self.setup_advice: Callable[[], str] = source.setup_advice
        self.close: Callable[[], None] = source.close

    def check_inputs(self, followed: FollowedTree) -> None:  # noqa: ARG002 # its form has none
        self._source.check_inputs()

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        place = followed.repository_url, followed.branch
        reports: Sequence[ClusterReport] = self._source.reports(*place)
        return reports
