"""The GitOps branches of a promotion, and the reports of their clusters, read repeatedly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.check_promote.deleted_clusters import DeletedClusters
from kalypso_actions.commands.check_promote.followed_branch import FollowedBranch
from kalypso_actions.commands.check_promote.other_urls import OtherUrls
from kalypso_actions.commands.check_promote.verify_request import VerifiedRequest
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import read_head
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.compliance import (
    Assessment,
    Cluster,
    ClusterReports,
    DesiredState,
    EnvironmentTree,
    ForeignPaths,
    Requirements,
    assess,
)
from kalypso_actions.compliance.clusters import STATES
from kalypso_actions.compliance.deleted_clusters import (
    deleted_clusters_warning,
    doubtful_clusters,
)
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.own_files import assigned_cluster_types, cluster_type_folders
from kalypso_actions.inputs.check_promote import CheckPromoteInputs
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.github import Relation
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.promotion.rollbacks import has_left
from kalypso_actions.promotion.run_verdict import BranchVerdict, Superseded, superseded

ReportsOfBranches = Mapping[tuple[str, str], Sequence[ClusterReport]]
"""The reports of the clusters that follow a branch, by the repository's URL and the branch."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The branches and clusters at one moment; `missing` are cluster types without a cluster.

    `not_ours` are paths of the branches outside the environment's tree, which do not count.
    """

    branches: tuple[BranchVerdict, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    missing: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    not_ours: tuple[ForeignPaths, ...] = ()

    def progress(self) -> str:
        """Return one line for people: `compliant 7/10, progressing 2, failed 1`."""
        counted = Counter(cluster.state for cluster in self.clusters)
        parts = [f"compliant {counted['compliant']}/{len(self.clusters)}"]
        parts += [f"{state} {counted[state]}" for state in STATES[1:] if counted[state]]
        if self.missing:
            parts.append(f"missing {abbreviated(self.missing, MAX_LISTED)}")
        return ", ".join(parts)

    def counts(self) -> dict[str, int]:
        """Return the number of clusters of each state that occurs, best first."""
        counted = Counter(cluster.state for cluster in self.clusters)
        return {state: counted[state] for state in STATES if counted[state]}


class Watch:
    """Reads the branches of a promotion, and the reports of their clusters."""

    def __init__(
        self,
        inputs: CheckPromoteInputs,
        context: CommandContext,
        verified: VerifiedRequest,
        reports: ClusterReports,
    ) -> None:
        """Raise KalypsoError if the cluster types of the environment cannot be read."""
        self._context = context
        self._reports = reports
        self._other_urls = OtherUrls(context, reports)
        self._deleted = DeletedClusters(context, reports)
        self._promoted_commit = verified.request.promoted_commit
        self._relations: dict[str, Relation | None] = {}
        self._branches_read: datetime | None = None
        self._superseded: Superseded | None = None
        self._environment = verified.environment
        self._requirements = Requirements(
            min_compliant=inputs.min_compliant,
            grace=inputs.grace_period,
            settle=inputs.settle,
            stale_after=inputs.stale_after,
            missing=inputs.missing,
            unreachable=inputs.unreachable,
            require_targets=inputs.require_targets,
            ignore_clusters=inputs.ignore_clusters,
        )
        fleet = read_control_plane(
            EnvironmentReading(verified.environment.name, verified.reading),
            context.reader,
            promoted_commit=self._promoted_commit,
        ).fleet
        self._cluster_types = frozenset(cluster_type.name for cluster_type in fleet.cluster_types)
        self._not_reporting = frozenset(
            cluster_type.name
            for cluster_type in fleet.cluster_types
            if not cluster_type.reports_compliance
        )
        follow = partial(FollowedBranch, context, verified.environment.name)
        self._branches = [
            follow(branch, expected, gitops_commit=verified.request.gitops_commit)
            for branch, expected in verified.own.items()
        ]
        if self._promoted_commit is not None:
            self._branches += [follow(branch, self._promoted_commit) for branch in verified.others]

    @property
    def gitops_commit(self) -> str:
        """The newest commit of the run's own GitOps branch that belongs to the promotion."""
        return next(branch.gitops_commit for branch in self._branches if branch.is_own)

    def check_inputs(self) -> None:
        """Raise UsageError if the source lacks inputs; without reporting clusters it needs none."""
        if any(self._tree(branch).reporting for branch in self._branches):
            self._reports.check_inputs()

    def read_branches(self, max_age: timedelta = timedelta()) -> Superseded | None:
        """Read all branches, unless the last time is less than `max_age` ago.

        Return the commit that ends the promotion, if any.
        """
        now = self._context.runtime.now()
        if self._branches_read is None or now - self._branches_read >= max_age:
            self._superseded = self._read_branches()
            self._branches_read = now
        return self._superseded

    def _read_branches(self) -> Superseded | None:
        """Read the environment's own branch last, right before the run starts anything."""
        for branch in self._branches:
            branch.read()
        for branch in self._branches:
            other = superseded(
                branch.expected,
                branch.promoted_commit,
                self._relation(branch.promoted_commit),
                is_own=branch.is_own,
            )
            if other:
                return other
        return self._left()

    def read_reports(self) -> ReportsOfBranches:
        """Read the reports of the clusters that follow the branches. Raise KalypsoError."""
        reports: dict[tuple[str, str], Sequence[ClusterReport]] = {}
        at_urls: dict[tuple[str, str], Sequence[ClusterReport]] = {}
        for followed in self._branches:
            tree, branch = self._tree(followed), followed.branch
            if not tree.reporting:
                continue
            urls = branch.url, *self._other_urls.former_urls(branch, tree)
            for url in urls:
                if (url, branch.branch) not in at_urls:
                    at_urls[url, branch.branch] = self._reports.reports(url, branch.branch)
            reports[branch.url, branch.branch] = tuple(
                report for url in urls for report in at_urls[url, branch.branch]
            )
        return reports

    def observe(self, reports: ReportsOfBranches, started: datetime) -> Observation:
        """Judge reports; a verdict counts if the branches were read after them.

        In this order, no cluster runs a commit that is newer than the known head of its branch.
        """
        branches = []
        assessments = []
        warnings = []
        for branch in self._branches:
            assessment = self._assess(branch, reports, started)
            assessments.append(assessment)
            branches.append(
                BranchVerdict(
                    branch.branch.name,
                    branch.is_own,
                    branch.holds,
                    assessment.verdict,
                    assessment.reason,
                )
            )
            if branch.holds:
                where = Location(self._context.url(branch.branch.repository))
                advice = self._reports.no_reports_advice
                tree, missing = self._tree(branch), assessment.missing
                warnings += assessment.warnings(tree, where, advice)
                warnings += self._other_urls.warnings(branch.branch, tree, missing)
                deleted = self._deleted.among(self._reports_of(branch, reports) or ())
                if deleted:
                    warnings.append(deleted_clusters_warning(deleted, where))
        return Observation(
            tuple(branches),
            tuple(cluster for of_branch in assessments for cluster in of_branch.clusters),
            tuple(dict.fromkeys(name for of_branch in assessments for name in of_branch.missing)),
            tuple(dict.fromkeys(warnings)),
            tuple(
                dict.fromkeys(
                    foreign for of_branch in assessments for foreign in of_branch.not_ours
                )
            ),
        )

    def _left(self) -> Superseded | None:
        """Return the commit that replaced the promoted one on the environment's branch, if any."""
        if self._promoted_commit is None:
            return None
        current_commit = read_head(self._environment, self._context).promoted_commit
        if not has_left(self._promoted_commit, current_commit, self._relation(current_commit)):
            return None
        return Superseded(current_commit or "", goes_back=True, source="base-repo.yaml")

    def _relation(self, commit: str | None) -> Relation | None:
        """Return the relation of a commit to the promoted one on main."""
        if self._promoted_commit is None or commit is None or commit == self._promoted_commit:
            return None
        if commit not in self._relations:
            github, repository = self._context.github, self._context.control_plane
            self._relations[commit] = (
                commits.relation(github, repository, self._promoted_commit, commit)
                if is_commit_id(commit)
                else None
            )
        return self._relations[commit]

    def _tree(self, branch: FollowedBranch) -> EnvironmentTree:
        """Return the environment's tree in a branch; one without assignments if none is known yet.

        A branch has a tree as soon as it has named the expected commit.
        """
        tree = branch.tree
        if tree is None:
            return EnvironmentTree("", frozenset())
        return EnvironmentTree(
            tree.path,
            cluster_type_folders(tree.entries, tree.path, self._cluster_types),
            assigned_cluster_types(tree.entries, tree.path, self._cluster_types),
            self._not_reporting,
        )

    def _assess(
        self, branch: FollowedBranch, reports: ReportsOfBranches, started: datetime
    ) -> Assessment:
        """Judge a branch; ask which of its clusters are deleted, and judge it without them."""
        desired = DesiredState(branch.synced, self._tree(branch), branch.later)
        of_branch = self._reports_of(branch, reports)
        now = self._context.runtime.now()
        self._deleted.ask_again(of_branch or ())
        while True:
            existing = None if of_branch is None else self._deleted.without(of_branch)
            assessment = assess(existing, desired, self._requirements, started=started, now=now)
            doubtful = doubtful_clusters(
                assessment.clusters,
                of_branch or (),
                self._deleted.known,
                started=started,
                now=now,
            )
            if not self._deleted.ask(doubtful):
                return assessment

    def _reports_of(
        self, branch: FollowedBranch, reports: ReportsOfBranches
    ) -> Sequence[ClusterReport] | None:
        """Return the reports of a branch; None if the source was not asked."""
        return reports.get((branch.branch.url, branch.branch.branch))
