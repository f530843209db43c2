"""What check-promote was told, held against the repositories before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kalypso_actions.clients.github import branches, commits
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_history import never_named
from kalypso_actions.commands.runtime.gitops_branches import (
    GitOpsBranch,
    gitops_branches,
    named_commit,
    read_environment,
    tree_at,
)
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.gitops import contradicts
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.promotion.verification import (
    AFTER,
    Claim,
    refuted_by_branch,
    refuted_by_main,
)


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim that holds.

    `own` are the GitOps branches that it is about (several, where one branch holds several trees),
    each with the commit of main that its tracking file names; `others` are those that the
    environment has besides. `reading` are the documents of the environment's own branch.
    """

    claim: Claim
    environment: Environment
    environments: Mapping[str, Environment]
    own: Mapping[GitOpsBranch, str | None]
    others: tuple[GitOpsBranch, ...]
    reading: Reading

    @property
    def repository(self) -> str:
        """The GitOps repository of the claimed commit, as owner/name."""
        return next(iter(self.own)).repository


def verify(inputs: CheckPromoteInputs, context: CommandContext) -> VerifiedClaim:
    """Look up whether the repositories say what the inputs claim.

    Raises UsageError where they do not, KalypsoError where they cannot be read.
    """
    claim = Claim(inputs.environment, inputs.promoted_commit, inputs.gitops_commit)
    environments = context.environments()
    # Where there is none of this name, the session says which there are.
    environment = environments.get(claim.environment) or context.environment(claim.environment)
    read = read_environment(context, environment)
    everything = gitops_branches(context, environment, read.gitops_repos)
    candidates = _named(inputs.gitops_repository, everything, context)
    refuted = _refuted_by_main(claim, context)
    if refuted:
        raise UsageError.of([refuted])
    own: dict[GitOpsBranch, str | None] = {}
    problems = []
    for place in candidates:
        tracked, problem = _look_at(place, claim, context)
        if problem:
            problems.append(problem)
        else:
            own[place] = tracked
    if not own:
        raise UsageError.of(problems)
    refuted = never_named(claim, environment, environments, context)
    if refuted:
        raise UsageError.of([refuted])
    others = tuple(place for place in everything if place not in own)
    return VerifiedClaim(claim, environment, environments, own, others, read.own)


def waiting_since(inputs: CheckPromoteInputs, context: CommandContext) -> datetime:
    """When the waiting began: as the run before says, now where a person runs a job again.

    Raises UsageError for what is no moment with an offset.
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
            f"started-at: {inputs.started_at!r} is no moment",
            advice="leave it empty: runs that go on with another one's waiting fill it in",
        )
    return min(moment.astimezone(UTC), now)


def _named(
    repository: str, everything: tuple[GitOpsBranch, ...], context: CommandContext
) -> tuple[GitOpsBranch, ...]:
    """The environment's branches in the repository that is named, or in its only one."""
    names = {place.repository.lower(): place.repository for place in everything}
    known = ", ".join(sorted(names.values()))
    where = Location(context.url(context.control_plane))
    if not repository and len(names) > 1:
        raise UsageError(
            "gitops-repository is needed: the environment has several GitOpsRepos",
            where,
            f"give one of {known}",
        )
    wanted = repository.lower() or next(iter(names))
    found = tuple(place for place in everything if place.repository.lower() == wanted)
    if not found:
        raise UsageError(
            f"{repository} is no GitOps repository of the environment", where, f"it has {known}"
        )
    return found


def _refuted_by_main(claim: Claim, context: CommandContext) -> Problem | None:
    if claim.promoted_commit is None:
        return None
    relation = commits.relation(
        context.github, context.control_plane, claim.promoted_commit, context.main()
    )
    return refuted_by_main(claim, relation, Location(context.url(context.control_plane)))


def _look_at(
    place: GitOpsBranch, claim: Claim, context: CommandContext
) -> tuple[str | None, Problem | None]:
    """What the claimed commit of a branch tracks, and what is wrong with the claim by it.

    Nothing of a commit is read that does not lie on the branch: GitHub shows those of forks, too.
    """
    github, repository = context.github, place.repository
    head = branches.head(github, repository, place.branch)
    relation = (
        commits.relation(github, repository, claim.gitops_commit, head)
        if head is not None
        else None
    )
    tracked = None
    contradiction = ""
    if relation in AFTER:
        tree = tree_at(context, place, claim.gitops_commit)
        tracked = named_commit(tree, claim.environment)
        if contradicts(tree.sources, claim.environment, claim.promoted_commit or ""):
            contradiction = f"{tree.path}/{SOURCES_FILE}" if tree.path else SOURCES_FILE
    where = Location(context.url(repository))
    return tracked, refuted_by_branch(
        claim, place.branch, relation, tracked, where, contradiction=contradiction
    )
