"""Read and verify what a run of check-promote was asked for, before it writes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kalypso_actions.clients.github import commits, repositories
from kalypso_actions.commands.shared.cluster_reports import environment_tree
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import (
    gitops_branches,
    never_named,
    read_environment,
    read_head,
)
from kalypso_actions.commands.shared.own_statuses import latest_record, own_statuses
from kalypso_actions.commands.shared.reading.base_trees import named_commit, tree_at
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.watch import FollowedBranch
from kalypso_actions.compliance import EnvironmentTree, Verdict
from kalypso_actions.compliance.verdicts import superseded_by
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.gitops.provenance import contradicts
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.github import ON_BRANCH, Relation
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
from kalypso_actions.promotion import statuses as status_table
from kalypso_actions.promotion.cd_decision import has_left
from kalypso_actions.promotion.environments import next_environments
from kalypso_actions.promotion.requests import (
    Merge,
    PromotionRequest,
    branch_problem,
    claimed_start,
    main_problem,
    meaning_of_state,
    most_important,
    waiting_start,
)
from kalypso_actions.promotion.start_records import StartRecord, check_promote_context


@dataclass(frozen=True, slots=True)
class VerifiedRequest:
    """A request that the repositories confirm.

    own      its GitOps branches (several if one branch holds several trees), each with the
             promoted commit that its tracking file names
    others   the other GitOps branches of the environment
    reading  the documents of the environment's own branch
    onward   the environments to promote the commit to; none for a configuration change
    started  when the waiting began
    warnings what keeps the merge from being a promotion
    """

    request: PromotionRequest
    environment: Environment
    environments: Mapping[str, Environment]
    own: Mapping[GitOpsBranch, str | None]
    others: tuple[GitOpsBranch, ...]
    reading: Reading
    onward: tuple[str, ...]
    started: datetime
    warnings: tuple[Problem, ...] = ()

    @property
    def repository(self) -> str:
        """The GitOps repository of the GitOps commit, as owner/name."""
        return next(iter(self.own)).repository


def verify(request: PromotionRequest, context: CommandContext) -> VerifiedRequest:
    """Verify that the repositories confirm a request.

    Without a promoted commit, the state of the repositories says whether the merge is a promotion.
    Raise UsageError if they do not confirm the request, KalypsoError if they cannot be read.
    """
    environments = context.environments()
    environment = context.environment(request.environment, environments)
    reading = read_environment(context, environment)
    every_branch = gitops_branches(context, environment, reading.gitops_repos)
    candidates = _candidates(request.repository, every_branch, context)
    if request.promoted_commit is not None and (problem := _main_problem(request, context)):
        raise UsageError.of([problem])
    own: dict[GitOpsBranch, str | None] = {}
    problems = []
    for branch in candidates:
        promoted_commit, problem = _verify_branch(branch, request, context)
        if problem:
            problems.append(problem)
        else:
            own[branch] = promoted_commit
    if not own:
        raise UsageError.of(problems)
    warnings: tuple[Problem, ...] = ()
    if request.promoted_commit is None:
        merge = _meaning(request, own, reading.promoted_commit, context)
        problem = _promotion_problem(request, merge, own, environment, reading, context)
        if problem:  # the run watches the clusters, but promotes nothing
            warnings = (replace(problem, level="warning"),)
        elif merge.kind == "promotion":
            request = replace(request, promoted_commit=merge.promoted_commit)
        own = {
            branch: tracked
            for branch, tracked in own.items()
            if request.promoted_commit in {None, tracked}
        }
    elif problem := never_named(request, environment, reading, environments, context):
        raise UsageError.of([problem])
    others = tuple(branch for branch in every_branch if branch not in own)
    onward: tuple[str, ...] = ()
    if request.promoted_commit is not None:
        onward = next_environments(request.next_environments, request.environment, environments)
    started = _waiting_since(request, candidates[0].repository, context)
    return VerifiedRequest(
        request, environment, environments, own, others, reading.own, onward, started, warnings
    )


def _main_problem(request: PromotionRequest, context: CommandContext) -> Problem | None:
    """Return that the promoted commit is not on main; None if it is, or if there is none."""
    if request.promoted_commit is None:
        return None
    relation = commits.relation(
        context.github, context.control_plane, request.promoted_commit, context.main()
    )
    return main_problem(request, relation, Location(context.url(context.control_plane)))


def _meaning(
    request: PromotionRequest,
    own: Mapping[GitOpsBranch, str | None],
    environment_commit: str | None,
    context: CommandContext,
) -> Merge:
    """Return what the merge is, by the state of the repositories.

    `own` has the commits that the tracking files name, `environment_commit` is the one that the
    environment's branch names.
    """
    name = status_table.context(request.environment).lower()
    merge = most_important(
        meaning_of_state(
            tracked,
            environment_commit=environment_commit,
            latest=own_statuses(context, tracked).get(name) if tracked else None,
        )
        for tracked in own.values()
    )
    if merge and merge.kind == "promotion":
        context.runtime.log(f"The merge promotes {merge.promoted_commit[:7]}.")
    return merge or Merge("configuration")


def _promotion_problem(
    request: PromotionRequest,
    merge: Merge,
    own: Mapping[GitOpsBranch, str | None],
    environment: Environment,
    reading: EnvironmentReading,
    context: CommandContext,
) -> Problem | None:
    """Return why the commit that a merge names is none to promote; None if there is no reason.

    Raise UsageError for a promotion of a commit that the environment has named, if the trees were
    made of another one than their tracking files name. What it has not named is no promotion.
    """
    found = replace(request, promoted_commit=merge.promoted_commit or None)
    problem = _main_problem(found, context) or never_named(
        found, environment, reading, context.environments(), context
    )
    if problem or merge.kind != "promotion":
        return problem
    if contradiction := _contradiction(found, own, context):
        raise UsageError.of([contradiction])
    return None


def _contradiction(
    request: PromotionRequest, own: Mapping[GitOpsBranch, str | None], context: CommandContext
) -> Problem | None:
    """Return that the trees were made of another commit than their tracking files name.

    None if one of them was not.
    """
    problems = [
        _verify_branch(branch, request, context)[1]
        for branch, tracked in own.items()
        if tracked is not None and tracked == request.promoted_commit
    ]
    return problems[0] if problems and all(problems) else None


def latest_check(
    request: PromotionRequest, repository: str, context: CommandContext
) -> StartRecord | None:
    """Return the record of the latest start of check-promote for the promoted commit, if any."""
    if not (request.promoted_commit and repository):
        return None
    name = check_promote_context(request.environment, repository)
    return latest_record(context, request.promoted_commit, name)


def _waiting_since(request: PromotionRequest, repository: str, context: CommandContext) -> datetime:
    """Return when the waiting began: at the time of `started-at`, or now if a person reruns a job.

    Raise UsageError if `started-at` is not a time with an offset.
    """
    now = context.runtime.now()
    if not request.started_at or context.runtime.job.attempt > 1:
        return now
    moment = claimed_start(request.started_at)
    merged = commits.get(context.github, repository, request.gitops_commit).committed_at
    if moment < merged:
        context.runtime.log(f"started-at {moment} is before the merge at {merged}, which counts.")
    return waiting_start(moment, merged=merged, now=now).astimezone(UTC)


def _candidates(
    repository: str, branches: tuple[GitOpsBranch, ...], context: CommandContext
) -> tuple[GitOpsBranch, ...]:
    """Return the environment's branches in the given repository, or in its only one."""
    names = {branch.repository.lower(): branch.repository for branch in branches}
    known = ", ".join(sorted(names.values()))
    where = Location(context.url(context.control_plane))
    if not repository and len(names) > 1:
        raise UsageError(
            "gitops-repository is needed: the environment has several GitOpsRepos",
            where,
            f"give one of {known}",
        )
    wanted = repository.lower() or next(iter(names))
    if wanted not in names:
        wanted = _present_name(repository, names.values(), context).lower()
    candidates = tuple(branch for branch in branches if branch.repository.lower() == wanted)
    if not candidates:
        raise UsageError(
            f"{repository} is no GitOps repository of the environment", where, f"it has {known}"
        )
    return candidates


def _present_name(repository: str, names: Iterable[str], context: CommandContext) -> str:
    """Return which of these names leads to the same repository as another name; "" for none.

    The id of the repository decides: it was renamed, and GitHub redirects its former name, unless
    somebody else has taken that name. Raise GitHubError for a rate limit.
    """
    for name in names:
        if repositories.is_same(context.github, repository, name):
            context.runtime.log(f"{repository} and {name} are the same repository.")
            return name
    return ""


def _verify_branch(
    branch: GitOpsBranch, request: PromotionRequest, context: CommandContext
) -> tuple[str | None, Problem | None]:
    """Return the promoted commit that the GitOps commit names, and a problem of the branch.

    Read only commits of the branch: GitHub also returns commits of forks by their ids.
    """
    gitops_commit = request.gitops_commit
    head = context.remotes.fetch_head(branch.url, branch.branch)
    relation = None
    if head is not None:
        relation = commits.relation(context.github, branch.repository, gitops_commit, head)
    promoted_commit = None
    contradiction = ""
    if relation in ON_BRANCH:
        tree = tree_at(context, branch, gitops_commit)
        promoted_commit = named_commit(tree, request.environment)
        if contradicts(tree.sources, request.environment, request.promoted_commit or ""):
            contradiction = branch.path_of(SOURCES_FILE)
    where = Location(context.url(branch.repository))
    return promoted_commit, branch_problem(
        request, branch.branch, relation, promoted_commit, where, contradiction=contradiction
    )


class WatchedEnvironment:
    """The branches of an environment's promotion, or of a change of its configuration.

    The environment's own branch may take a promotion back before a GitOps branch does.
    """

    def __init__(self, verified: VerifiedRequest, context: CommandContext) -> None:
        """Raise KalypsoError if the cluster types of the environment cannot be read."""
        self._context = context
        self._environment = verified.environment
        self.promoted_commit = promoted = verified.request.promoted_commit
        self.started = verified.started
        name = verified.environment.name
        fleet = read_control_plane(
            EnvironmentReading(name, verified.reading), context.reader, promoted_commit=promoted
        ).fleet
        self._cluster_types = fleet.cluster_types
        gitops_commit = verified.request.gitops_commit
        self.branches = [
            FollowedBranch(context, name, branch, expected, gitops_commit=gitops_commit)
            for branch, expected in verified.own.items()
        ]
        if promoted is not None:
            self.branches += [
                FollowedBranch(context, name, branch, promoted) for branch in verified.others
            ]

    def tree_of(self, tree: BaseTree | None) -> EnvironmentTree:
        """Return the tree with the folders of the cluster types."""
        return environment_tree(tree, self._cluster_types)

    def gone_back(self, relation: Callable[[str | None], Relation | None]) -> Verdict | None:
        """Return the verdict that `base-repo.yaml` names an older commit or none, if it does."""
        if self.promoted_commit is None:
            return None
        current_commit = read_head(self._environment, self._context).promoted_commit
        if not has_left(self.promoted_commit, current_commit, relation(current_commit)):
            return None
        return superseded_by(current_commit or "", goes_back=True, source="base-repo.yaml")
