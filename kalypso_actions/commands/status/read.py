"""The environments' branches, and GitHub's overviews of the repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import GitHubError, overviews, workflows
from kalypso_actions.commands.shared.cluster_reports import environment_tree, followed_tree, observe
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import gitops_branches, read_leniently
from kalypso_actions.commands.shared.labels import FAILURE
from kalypso_actions.commands.shared.reading.base_trees import tree_at
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_base_file,
)
from kalypso_actions.commands.shared.reading.document_reader import in_parallel, read_policy
from kalypso_actions.compliance import (
    ClusterReports,
    DesiredState,
    EnvironmentTree,
    Requirements,
    Verdict,
    judge_clusters,
)
from kalypso_actions.compliance.cluster_states import STATES
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.gitops.provenance import read_sources
from kalypso_actions.model.cluster_reports import FollowedTree
from kalypso_actions.model.github import ActiveRun, RepositoryOverview
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.promotion_policy import POLICY_FILE, Hold, PromotionPolicy, policy_path
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
from kalypso_actions.promotion.environments import missing_branch
from kalypso_actions.report.status_document import ClusterStateEntry
from kalypso_actions.sources.source_tree import normalize, within

ROLLBACK: Final = "rollback.yaml"
"""The workflow file that people start to bring an environment back."""


@dataclass(frozen=True, slots=True)
class EnvironmentBranches:
    """An environment's branch, its GitOps branches, and all problems with them.

    `reading` is None for a branch that cannot be read.
    """

    environment: Environment
    reading: EnvironmentReading | None
    gitops: tuple[GitOpsBranch, ...]
    problems: tuple[Problem, ...]

    @property
    def promoted_commit(self) -> str:
        """The commit of main that the branch names; "" for none."""
        return (self.reading.promoted_commit if self.reading else None) or ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The branches that status reads; `gitops` has the GitOps repositories by `owner/name`."""

    main: str
    environments: Sequence[EnvironmentBranches]
    control_plane: RepositoryOverview
    gitops: Mapping[str, RepositoryOverview]
    trees: Mapping[GitOpsBranch, BaseTree]


def read_pipeline(context: CommandContext, environments: Sequence[Environment]) -> Pipeline:
    """Read the branches, one overview of each repository, and the GitOps trees.

    Raises KalypsoError if the control plane cannot be read, but not for faults of an environment.
    """
    main = context.main()
    read = in_parallel(lambda each: _branches(context, each), environments)
    control_plane = overviews.read(
        context.github,
        context.control_plane,
        branches=[main, *(each.environment.control_plane.branch for each in read)],
        commits=[each.promoted_commit for each in read],
        label=FAILURE,
    )
    read = [
        each
        if each.environment.control_plane.branch in control_plane.heads
        else EnvironmentBranches(each.environment, None, (), (missing_branch(each.environment),))
        for each in read
    ]
    places = list(dict.fromkeys(place for each in read for place in each.gitops))
    names: dict[str, list[str]] = {}
    for place in places:
        names.setdefault(place.repository, []).append(place.branch)

    def overview(repository: str) -> RepositoryOverview:
        branches = names[repository]
        return overviews.read(context.github, repository, branches=branches, label=FAILURE)

    gitops = dict(zip(names, in_parallel(overview, names), strict=True))
    heads = {place: gitops[place.repository].heads.get(place.branch) for place in places}
    existing = [(place, head.id) for place, head in heads.items() if head]
    trees = in_parallel(lambda item: tree_at(context, *item), existing)
    return Pipeline(
        main,
        read,
        control_plane,
        gitops,
        {place: tree for (place, _), tree in zip(existing, trees, strict=True)},
    )


def started_rollbacks(context: CommandContext) -> tuple[ActiveRun, ...]:
    """Return the runs of rollback that have not ended; none if the token may not read runs."""
    try:
        return workflows.newest_unfinished(context.github, context.control_plane, ROLLBACK)
    except GitHubError as error:
        context.runtime.log(f"Started rollbacks are not shown: {error.problem.message}")
        return ()


def _branches(context: CommandContext, environment: Environment) -> EnvironmentBranches:
    try:
        reading = read_leniently(context, environment)
    except KalypsoError as error:
        return EnvironmentBranches(environment, None, (), error.problems)
    try:
        places = gitops_branches(context, environment, reading.gitops_repos, reading.problems)
    except KalypsoError as error:
        problems = tuple(dict.fromkeys((*reading.problems, *error.problems)))
        return EnvironmentBranches(environment, reading, (), problems)
    return EnvironmentBranches(environment, reading, places, reading.problems)


def held_since(
    context: CommandContext, item: EnvironmentBranches, policy: PromotionPolicy
) -> Mapping[Hold, datetime]:
    """Return when each hold of an environment's policy came to its branch, as far as git tells.

    Raises KalypsoError.
    """
    reading, environment = item.reading, item.environment
    if reading is None or not reading.own.revision.commit:
        return {}
    url = context.url(context.control_plane)
    path = policy_path(normalize(environment.control_plane.path))
    since: dict[Hold, datetime] = {}
    sought = set(policy.holds)
    for commit in context.remotes.history(url, reading.own.revision.commit):
        if not sought:
            break
        if path not in commit.changes:
            continue
        files = context.remotes.fetch(url, commit=commit.id)
        then = read_policy(files, environment.control_plane.path).policy
        sought.intersection_update(then.holds if then else ())
        since.update(dict.fromkeys(sought, commit.date))
    return since


def unproposed_files(
    context: CommandContext, pipeline: Pipeline, item: EnvironmentBranches
) -> tuple[str, ...]:
    """Return the files of an environment's branch that no merged tree was made from.

    The policy is none of them, nor is the file with the commit of main. Raises KalypsoError.
    """
    reading, environment = item.reading, item.environment
    if reading is None or not reading.own.revision.commit:
        return ()
    url = context.url(context.control_plane)
    trees = filter(None, (pipeline.trees.get(place) for place in item.gitops))
    sources = (read_sources(tree.sources, environment.name) for tree in trees)
    made_from = {
        each.environment_branch.commit for each in sources if each and each.environment_branch
    }
    files = context.remotes.fetch(url, commit=reading.own.revision.commit)
    base = read_base_file(files, environment.control_plane.path).where.path
    folder, now = normalize(environment.control_plane.path), files.entries()
    changed: set[str] = set()
    for commit in filter(None, made_from - {reading.own.revision.commit}):
        before = context.remotes.fetch(url, commit=commit).entries()
        changed |= {path for path, _ in before.items() ^ now.items() if within(path, folder)}
    return tuple(sorted(path for path in changed if path != base and POLICY_FILE not in path))


_WORST: Final = (*STATES, "missing")
"""From the best state to the worst."""


@dataclass(frozen=True, slots=True)
class ClusterStates:
    """The number of clusters in each state, and those that do not comply, the worst first."""

    numbers: dict[str, int]
    not_compliant: tuple[ClusterStateEntry, ...]
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedBranch:
    """A GitOps branch whose clusters should run its head, which was committed at `since`."""

    place: GitOpsBranch
    head: str
    since: datetime
    tree: EnvironmentTree
    followed: FollowedTree

    @property
    def desired(self) -> DesiredState:
        """The state that the clusters should reach."""
        return DesiredState(frozenset({self.head}), self.tree)


def observed_branches(
    context: CommandContext, pipeline: Pipeline, item: EnvironmentBranches
) -> Iterator[ObservedBranch]:
    """Yield the GitOps branches of an environment that have a tree. Raises KalypsoError."""
    name = item.environment.name
    documents = item.reading.own.documents if item.reading else ()
    assembled, _ = assemble(name, Branch(name, documents), ())
    for place in item.gitops:
        base_tree = pipeline.trees.get(place)
        head = pipeline.gitops[place.repository].heads.get(place.branch)
        if base_tree is None or head is None:
            continue
        tree = environment_tree(base_tree, assembled.cluster_types)
        followed = followed_tree(context, place, head.id, tree)
        yield ObservedBranch(place, head.id, head.committed_at, tree, followed)


def cluster_states(
    context: CommandContext, pipeline: Pipeline, item: EnvironmentBranches, reports: ClusterReports
) -> ClusterStates:
    """Return the states of an environment's clusters, judged by the head of each GitOps branch.

    Cluster types with assignments and without a cluster count as `missing`. Raises KalypsoError if
    the reports cannot be read.
    """
    entries: list[ClusterStateEntry] = []
    warnings: list[Problem] = []
    now = context.runtime.now()
    for branch in observed_branches(context, pipeline, item):
        of_branch, of_source = observe(reports, branch.followed)
        warnings += of_source
        verdict = judge_clusters(
            of_branch, branch.desired, Requirements(), started=branch.since, now=now
        )
        entries += _entries(verdict)
    numbers = Counter(entry.state for entry in entries)
    others = [entry for entry in entries if entry.state != "compliant"]
    return ClusterStates(
        dict(sorted(numbers.items())),
        tuple(sorted(others, key=lambda entry: (-_WORST.index(entry.state), entry.id))),
        tuple(dict.fromkeys(warnings)),
    )


def _entries(verdict: Verdict) -> Iterator[ClusterStateEntry]:
    for cluster in verdict.clusters:
        yield ClusterStateEntry(
            id=cluster.id,
            name=cluster.name,
            cluster_type=cluster.cluster_type,
            state=cluster.state,
            reason=cluster.reason,
        )
    for name in verdict.missing:
        reason = "no cluster reports that it follows the folder"
        yield ClusterStateEntry(cluster_type=name, state="missing", reason=reason)
