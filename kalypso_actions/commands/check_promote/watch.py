"""All GitOps branches of a promotion, and the clusters that follow them: one look after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.check_promote.followed_branch import FollowedBranch
from kalypso_actions.commands.check_promote.verify_request import VerifiedClaim
from kalypso_actions.commands.runtime.azure_clusters import AzureClusters
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_history import EnvironmentCommit
from kalypso_actions.compliance import (
    Assessment,
    Cluster,
    ForeignPaths,
    Requirements,
    Target,
    Tree,
    assess,
)
from kalypso_actions.compliance.clusters import STATES
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.own_files import assigned_cluster_types, cluster_type_folders
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.model.flux import FluxConfiguration
from kalypso_actions.model.github import Relation
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.promotion.rounds import Standing, Superseded, overtaken
from kalypso_actions.snapshot.gather import read_control_plane

Rows = Mapping[tuple[str, str], tuple[FluxConfiguration, ...]]
"""What follows a branch of a repository, by its URL and the branch."""

NOBODY_FOLLOWS: Final = (
    "check the URL and branch of the clusters' Flux configurations, and that the identity has the "
    "role Reader on their subscriptions (azure-scopes)"
)


@dataclass(frozen=True, slots=True)
class Look:
    """How everything stood at one moment; `missing` are cluster types without a cluster.

    `not_ours` are paths of the branches outside of the environment's tree, which do not count.
    """

    standings: tuple[Standing, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    missing: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    not_ours: tuple[ForeignPaths, ...] = ()

    def progress(self) -> str:
        """One line for people: `compliant 7/10, progressing 2, failed 1`."""
        counted = Counter(cluster.state for cluster in self.clusters)
        parts = [f"compliant {counted['compliant']}/{len(self.clusters)}"]
        parts += [f"{state} {counted[state]}" for state in STATES[1:] if counted[state]]
        if self.missing:
            parts.append(f"missing {', '.join(self.missing)}")
        return ", ".join(parts)

    def counts(self) -> dict[str, int]:
        """Clusters of each state that occurs, best first."""
        counted = Counter(cluster.state for cluster in self.clusters)
        return {state: counted[state] for state in STATES if counted[state]}


class Watch:
    """Looks at a promotion: where its branches stand, and how their clusters are."""

    def __init__(
        self,
        inputs: CheckPromoteInputs,
        context: CommandContext,
        verified: VerifiedClaim,
        azure: AzureClusters,
    ) -> None:
        """Raises KalypsoError where the cluster types of the environment cannot be read."""
        self._session = context
        self._azure = azure
        self._promoted = verified.claim.promoted_commit
        self._relations: dict[str, Relation | None] = {}
        self._base = EnvironmentCommit(context, verified.environment)
        self._requirements = Requirements(
            min_compliant=inputs.min_compliant,
            grace=inputs.grace_period,
            stale_after=inputs.stale_after,
            missing=inputs.missing,
            require_targets=inputs.require_targets,
            ignore_clusters=inputs.ignore_clusters,
        )
        fleet = read_control_plane(
            verified.environment.name,
            verified.reading,
            context.reader,
            promoted_commit=self._promoted,
        ).fleet
        self._cluster_types = frozenset(one.name for one in fleet.cluster_types)
        self._left_out = frozenset(
            one.name for one in fleet.cluster_types if not one.reports_compliance
        )
        follow = partial(FollowedBranch, context, verified.environment.name)
        start = verified.claim.gitops_commit
        self._branches = [
            follow(place, named, start=start) for place, named in verified.own.items()
        ]
        if self._promoted is not None:
            self._branches += [follow(place, self._promoted) for place in verified.others]

    def look_at_branches(self) -> Superseded | None:
        """Read where all branches stand now: whether another commit has come to one of them.

        The environment's own branch is read last, right before something is started.
        """
        for branch in self._branches:
            branch.look()
        for branch in self._branches:
            found = overtaken(branch.named, branch.tracked, self._relation(branch), own=branch.own)
            if found:
                return found
        return self._left()

    def _left(self) -> Superseded | None:
        """Whether people have gone back from the promoted commit on the environment's branch."""
        if self._promoted is None:
            return None
        named = self._base.look()
        if not self._base.has_left(self._promoted):
            return None
        return Superseded(named or "", goes_back=True, source="base-repo.yaml")

    @property
    def gitops_commit(self) -> str:
        """The newest commit of the claimed GitOps branch that this run stands for."""
        return next(branch.target for branch in self._branches if branch.own)

    @property
    def must_ask(self) -> bool:
        """Whether there is any cluster to be asked for."""
        return any(map(self._reporting, self._branches))

    def ask(self) -> Rows:
        """The Flux configurations that follow the branches, as of now. Raises KalypsoError."""
        places = {
            (branch.place.url, branch.place.branch): None
            for branch in self._branches
            if self._reporting(branch)
        }
        return {(url, branch): self._azure.following(url, branch) for url, branch in places}

    def judge(self, rows: Rows, started: datetime) -> Look:
        """How everything stands by these rows, which are older than the look at the branches.

        So a commit that a cluster has is never newer than what is known of the branch.
        """
        standings = []
        clusters: list[Cluster] = []
        missing: list[str] = []
        not_ours: list[ForeignPaths] = []
        warnings = []
        for branch in self._branches:
            assessment = self._assess(branch, rows, started)
            standings.append(self._standing(branch, assessment))
            warnings += self._warnings(branch, assessment)
            if assessment:
                clusters += assessment.clusters
                missing += assessment.missing
                not_ours += assessment.not_ours
        return Look(
            tuple(standings),
            tuple(clusters),
            tuple(dict.fromkeys(missing)),
            tuple(dict.fromkeys(warnings)),
            tuple(dict.fromkeys(not_ours)),
        )

    def _relation(self, branch: FollowedBranch) -> Relation | None:
        """How the commit that a branch names stands to the promoted one on main."""
        tracked = branch.tracked
        if self._promoted is None or tracked is None or tracked == self._promoted:
            return None
        if tracked not in self._relations:
            github, repository = self._session.github, self._session.control_plane
            self._relations[tracked] = (
                commits.relation(github, repository, self._promoted, tracked)
                if is_commit_id(tracked)
                else None
            )
        return self._relations[tracked]

    def _assigned(self, branch: FollowedBranch) -> frozenset[str]:
        if branch.tree is None:
            return frozenset()
        tree = branch.tree
        return assigned_cluster_types(tree.entries, tree.path, self._cluster_types)

    def _reporting(self, branch: FollowedBranch) -> frozenset[str]:
        """The cluster types with assignments whose clusters report."""
        return self._assigned(branch) - self._left_out

    def _assess(self, branch: FollowedBranch, rows: Rows, started: datetime) -> Assessment | None:
        """How the clusters of a branch are; None where none are to be asked for."""
        following = rows.get((branch.place.url, branch.place.branch))
        reporting = self._reporting(branch)
        if following is None or branch.tree is None or not reporting:
            return None
        tree = branch.tree
        own = cluster_type_folders(tree.entries, tree.path, self._cluster_types)
        return assess(
            following,
            Target(branch.synced, Tree(tree.path, own, self._left_out), branch.later),
            reporting,
            self._requirements,
            started=started,
            now=self._session.runtime.now(),
        )

    def _standing(self, branch: FollowedBranch, assessment: Assessment | None) -> Standing:
        standing = partial(Standing, branch.place.name, branch.own, branch.holds)
        if not branch.holds:
            return standing()
        if assessment:
            return standing(assessment.outcome, assessment.reason)
        if not self._assigned(branch):
            return standing("nothing-scheduled")
        if not self._reporting(branch):
            return standing("compliant", "its clusters do not report")
        return standing("waiting", "its clusters have not been asked for yet")

    def _warnings(self, branch: FollowedBranch, assessment: Assessment | None) -> list[Problem]:
        """What is passed over although nobody knows how it is."""
        if not branch.holds:
            return []
        where = Location(self._session.url(branch.place.repository))
        unasked = sorted(self._assigned(branch) & self._left_out)
        found = []
        if unasked:
            message = f"nobody knows how the clusters of {', '.join(unasked)} are: they do not "
            message += "report, as their ClusterTypes are annotated"
            found.append(Problem(message, where, "look at them by other means"))
        if assessment and assessment.outcome == "compliant":
            if not assessment.clusters:
                found.append(Problem(assessment.reason, where, NOBODY_FOLLOWS))
            elif assessment.missing:
                message = f"no cluster reports for {', '.join(assessment.missing)}"
                found.append(Problem(message, where, NOBODY_FOLLOWS))
        return found
