"""Compare the inputs of check-promote with the repositories before the run writes anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.check_promote.branch_tree import fetch_head, read_tree
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import never_named
from kalypso_actions.commands.shared.gitops_branches import gitops_branches, read_environment
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.check_promote import CheckPromoteInputs
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.github import ON_BRANCH
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.requests import (
    PromotionRequest,
    branch_problem,
    main_problem,
    waiting_start,
)


@dataclass(frozen=True, slots=True)
class VerifiedRequest:
    """A request that the repositories confirm.

    own      its GitOps branches (several if one branch holds several trees), each with the
             promoted commit that its tracking file names
    others   the other GitOps branches of the environment
    reading  the documents of the environment's own branch
    """

    request: PromotionRequest
    environment: Environment
    environments: Mapping[str, Environment]
    own: Mapping[GitOpsBranch, str | None]
    others: tuple[GitOpsBranch, ...]
    reading: Reading

    @property
    def repository(self) -> str:
        """The GitOps repository of the GitOps commit, as owner/name."""
        return next(iter(self.own)).repository


def verify(inputs: CheckPromoteInputs, context: CommandContext) -> VerifiedRequest:
    """Verify that the repositories confirm the inputs.

    Raise UsageError if they do not, KalypsoError if they cannot be read.
    """
    request = PromotionRequest(inputs.environment, inputs.promoted_commit, inputs.gitops_commit)
    environments = context.environments()
    # The context's error for an unknown name lists the known ones.
    environment = environments.get(request.environment) or context.environment(request.environment)
    reading = read_environment(context, environment)
    every_branch = gitops_branches(context, environment, reading.gitops_repos)
    candidates = _candidates(inputs.gitops_repository, every_branch, context)
    problem = _main_problem(request, context)
    if problem:
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
    problem = never_named(request, environment, reading, environments, context)
    if problem:
        raise UsageError.of([problem])
    others = tuple(branch for branch in every_branch if branch not in own)
    return VerifiedRequest(request, environment, environments, own, others, reading.own)


def waiting_since(
    inputs: CheckPromoteInputs, context: CommandContext, verified: VerifiedRequest
) -> datetime:
    """Return when the waiting began: at the time of `started-at`, or now if a person reruns a job.

    Raise UsageError if `started-at` is not a time with an offset.
    """
    now = context.runtime.now()
    if not inputs.started_at or context.runtime.job.attempt > 1:
        return now
    try:
        moment = datetime.fromisoformat(inputs.started_at)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError(
            f"started-at: {inputs.started_at!r} is not a time with an offset",
            advice="leave it empty: only a run that continues another one's waiting has it",
        )
    merged = commits.get(
        context.github, verified.repository, verified.request.gitops_commit
    ).committed_at
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
    candidates = tuple(branch for branch in branches if branch.repository.lower() == wanted)
    if not candidates:
        raise UsageError(
            f"{repository} is no GitOps repository of the environment", where, f"it has {known}"
        )
    return candidates


def _main_problem(request: PromotionRequest, context: CommandContext) -> Problem | None:
    if request.promoted_commit is None:
        return None
    relation = commits.relation(
        context.github, context.control_plane, request.promoted_commit, context.main()
    )
    return main_problem(request, relation, Location(context.url(context.control_plane)))


def _verify_branch(
    branch: GitOpsBranch, request: PromotionRequest, context: CommandContext
) -> tuple[str | None, Problem | None]:
    """Return the promoted commit that the GitOps commit names, and a problem of the branch.

    Read only commits of the branch: GitHub also returns commits of forks by their ids.
    """
    github, repository = context.github, branch.repository
    gitops_commit = request.gitops_commit
    head = fetch_head(context, branch)
    relation = (
        commits.relation(github, repository, gitops_commit, head) if head is not None else None
    )
    promoted_commit = None
    contradiction = ""
    if relation in ON_BRANCH:
        tree = read_tree(context, branch, request.environment, gitops_commit)
        promoted_commit = tree.promoted_commit
        if tree.contradicts(request.promoted_commit):
            contradiction = tree.sources_path
    where = Location(context.url(repository))
    return promoted_commit, branch_problem(
        request, branch.branch, relation, promoted_commit, where, contradiction=contradiction
    )
