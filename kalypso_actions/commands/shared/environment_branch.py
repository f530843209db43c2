"""The branch of an environment in the control plane: what it names now, and what it has named.

    branch = read_head(environment, context)
    branch.promoted_commit, rolled_back_to(commit, branch, environments, context)

`read_environment` reads the documents of the branch, and `gitops_branches` returns the GitOps
branches that they name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Final, TypeVar

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import commits, pull_requests
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import own_statuses_of, was_deployed
from kalypso_actions.commands.shared.reading.base_history import BaseWrite, read_base_writes
from kalypso_actions.commands.shared.reading.control_plane import (
    BaseFile,
    EnvironmentReading,
    read_base_file,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.layout import OWN_BRANCHES, gitops_folder
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.base_repo import base_document
from kalypso_actions.promotion.cd_decision import (
    comes_back,
    commit_on_main,
    is_proposed,
    left_commits,
    left_since_cuts,
)
from kalypso_actions.promotion.environments import missing_branch
from kalypso_actions.promotion.requests import PromotionRequest, environment_problem
from kalypso_actions.promotion.rollbacks import rollback_candidates
from kalypso_actions.promotion.statuses import context as status_context
from kalypso_actions.promotion.statuses import is_deployed

T = TypeVar("T")

DELAYS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds before each new attempt after somebody else moved the branch."""

MOST_STATUSES: Final = 100
"""The commits whose statuses one request reads."""

REPLACES: Final = "Kalypso-Replaces"
"""The trailer of a proposal's commit that names the commit proposed before it."""


@dataclass(frozen=True, slots=True)
class PromotionProposal:
    """The commit of main that our branch brings, by an open pull request.

    `pull` is None until a run has opened it after the push. `replaces` is the commit that our
    branch brought before. `outdated`: it conflicts, because its file has since changed on the
    environment's branch.
    """

    pull: PullRequest | None
    promoted_commit: str | None
    replaces: str | None
    outdated: bool

    def instead_of(self, promoted_commit: str) -> str | None:
        """Return the commit that was proposed before this one."""
        is_same = self.promoted_commit == promoted_commit
        return self.replaces if is_same else self.promoted_commit


@dataclass(frozen=True, slots=True)
class EnvironmentBranch:
    """The branch of an environment at one commit, and our own branch beside it.

    `head` is "" for a branch that does not exist. `promoted_commit` is the commit of main that the
    branch names in a file with the `text` at `where`.

    `own_head` is the head of our branch ("": absent, or not read), and `proposal` what it proposes.
    """

    environment: Environment
    url: str
    head: str = ""
    promoted_commit: str | None = None
    where: Location = field(default_factory=lambda: Location(""))
    text: str | None = None
    own_head: str = ""
    proposal: PromotionProposal | None = None

    @property
    def name(self) -> str:
        """The branch."""
        return self.environment.control_plane.branch

    @property
    def own_name(self) -> str:
        """Our branch, from which a pull request brings another commit of main."""
        return f"{OWN_BRANCHES}promote/{self.environment.name}"

    def brings(self, promoted_commit: str) -> bool:
        """Whether our branch proposes a commit that can be merged."""
        proposal = self.proposal
        return (
            proposal is not None
            and proposal.promoted_commit == promoted_commit
            and not proposal.outdated
        )


def read_head(environment: Environment, context: CommandContext) -> EnvironmentBranch:
    """Read the commit of main that an environment's branch names at its head, if the branch exists.

    Raises KalypsoError.
    """
    url, name = context.url(context.control_plane), environment.control_plane.branch
    head = context.remotes.heads(url, [name]).get(name, "")
    if not head:
        return EnvironmentBranch(environment, url, where=Location(url))
    return _with_base(EnvironmentBranch(environment, url, head), context)


def checked_branch(
    environment: Environment, main: str, context: CommandContext
) -> EnvironmentBranch:
    """Return the branch of an environment, which has not been read.

    Raises KalypsoError if it is `main`, from which commits are promoted: each promotion would add a
    commit to promote.
    """
    if environment.control_plane.branch == main:
        raise KalypsoError(
            f"environment {environment.name!r} lies on {main}, from which it is promoted",
            environment.where,
            "give it a branch of its own",
            "environment-on-main",
        )
    return EnvironmentBranch(environment, context.url(context.control_plane))


def while_the_branch_moves(attempt: Callable[[], T], context: CommandContext) -> T:
    """Return the result of `attempt`, which reads everything again if somebody moved the branch.

    Raises PushConflictError if the branch moves before every attempt.
    """
    for delay in DELAYS:
        try:
            return attempt()
        except PushConflictError as conflict:
            context.runtime.log(f"{conflict.problem.message}; looking again in {delay:g} s")
            context.runtime.sleep(delay)
    return attempt()


def read_promotion(
    branch: EnvironmentBranch, context: CommandContext, *, proposals: bool
) -> EnvironmentBranch:
    """Read the branch now; with `proposals`, our proposal too.

    Raises KalypsoError for a branch that does not exist or cannot be read.
    """
    heads = context.remotes.heads(branch.url, [branch.name, branch.own_name])
    if branch.name not in heads:
        raise KalypsoError.of([missing_branch(branch.environment)])
    own_head = heads.get(branch.own_name, "")
    now = replace(branch, head=heads[branch.name], own_head=own_head, proposal=None)
    now = _with_base(now, context)
    return replace(now, proposal=_proposal(now, context)) if proposals and own_head else now


def _with_base(branch: EnvironmentBranch, context: CommandContext) -> EnvironmentBranch:
    base = base_at(branch, branch.head, context)
    return replace(branch, promoted_commit=base.promoted_commit, where=base.where, text=base.text)


def base_at(branch: EnvironmentBranch, commit: str, context: CommandContext) -> BaseFile:
    """Return the file with the commit of main at a commit of the control plane."""
    files = context.remotes.fetch(branch.url, commit=commit)
    return read_base_file(files, branch.environment.control_plane.path)


def _proposal(branch: EnvironmentBranch, context: CommandContext) -> PromotionProposal | None:
    """Return what our branch proposes; None if that has ended."""
    github, control_plane = context.github, context.control_plane
    pulls = pull_requests.find(github, control_plane, head=branch.own_name, base=branch.name)
    pull = next(iter(pulls), None)
    if pull:
        pull_requests.is_own(github, control_plane, pull)  # raises for somebody else's
    promoted_commit = base_at(branch, branch.own_head, context).promoted_commit
    if pull is None:
        ended = pull_requests.closed_pages(
            github, control_plane, head=branch.own_name, base=branch.name
        )
        ended_heads = {other.head_commit for other in next(ended)}
        current = branch.promoted_commit
        if not is_proposed(branch.own_head, promoted_commit, current, ended_heads):
            return None
    merge_base = commits.merge_base(github, control_plane, branch.head, branch.own_head)
    message = commits.get(github, control_plane, branch.own_head).message
    replaces = re.search(rf"^{REPLACES}: ([0-9a-f]+)$", message, re.MULTILINE)
    return PromotionProposal(
        pull,
        promoted_commit,
        replaces[1] if replaces else None,
        outdated=base_at(branch, merge_base, context).text != branch.text,
    )


def never_named(
    request: PromotionRequest,
    environment: Environment,
    reading: EnvironmentReading,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> Problem | None:
    """Return a problem if the environment has never named the commit of a claim.

    Read its branch again, and then its history, only if `reading` does not name the commit. Raises
    KalypsoError.
    """
    promoted = request.promoted_commit
    if promoted is None or promoted == reading.promoted_commit:
        return None
    now = read_head(environment, context)
    ever_named = now.promoted_commit == promoted
    if not ever_named and now.head:
        ever_named = has_named(promoted, now, environments, context)
    return environment_problem(request, ever_named=ever_named, branch=now.name, where=now.where)


def has_named(
    promoted_commit: str,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> bool:
    """Whether the environment has named a commit of main, up to the head of its branch.

    Raises KalypsoError.
    """
    history = BaseHistory(branch, environments, context)
    for write in history.writes():
        if write.promoted_commit == promoted_commit:
            return not any(history.others_with(write))
    return False


def rolled_back_from(
    promoted_commit: str,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> bool:
    """Whether people rolled an environment back from a commit that it has, or contains, again.

    What contains the commit may have come since; the commit itself counts once it is written again.
    Raises KalypsoError.
    """
    if branch.promoted_commit == promoted_commit:
        return False
    history = BaseHistory(branch, environments, context)
    is_left = False
    for write in history.writes():
        holds = write.promoted_commit is not None and history.main.contains(
            write.promoted_commit, promoted_commit
        )
        if write.promoted_commit == promoted_commit:
            return is_left
        is_left = is_left or not holds
    return False


def rolled_back_to(
    promoted_commit: str,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> str | None:
    """Return the commit that people rolled back to, if `promoted_commit` would undo that.

    None if it would not. Raises KalypsoError.
    """
    history, current = BaseHistory(branch, environments, context), branch.promoted_commit
    writes, main = list(history.writes()), history.main
    past_commits = [write.promoted_commit for write in writes]
    if not comes_back(promoted_commit, left_commits(current, past_commits, main), main):
        return None
    # Read the other branches only if they matter.
    left = left_since_cuts(current, history.segments, main)
    if not comes_back(promoted_commit, left, main):
        return None
    return commit_on_main(current, past_commits, main)


def last_good(
    branch: EnvironmentBranch, history: BaseHistory, context: CommandContext, *, without: str = ""
) -> str | None:
    """Return the commit to which a rollback goes back: see `rollback_candidates`.

    It is the newest candidate that the chain ever posted `Deployed` for, also before the commit
    came a second time; None if there is none. Raises KalypsoError.
    """
    candidates = list(rollback_candidates(history.segments, history.main, without))
    for start in range(0, len(candidates), MOST_STATUSES):
        batch = candidates[start : start + MOST_STATUSES]
        deployed = deployed_commits(branch, batch, context)
        if commit := next(deployed, None):
            return commit
    return None


def deployed_commits(
    branch: EnvironmentBranch, commits: Sequence[str], context: CommandContext
) -> Iterator[str]:
    """Yield those of some commits that the environment ever deployed. Raises GitHubError."""
    posted = own_statuses_of(context, commits, any_app=True)
    name = status_context(branch.environment.name)
    for commit in commits:
        latest = posted.get(commit, {}).get(name.lower())
        if is_deployed(latest) or (
            latest and was_deployed(context, commit, latest.context, any_app=True)
        ):
            yield commit


class BaseHistory:
    """The commits of main that an environment has named.

    A branch may have been cut from another environment's: git does not tell which one was first.
    So a commit that both share proves no claim, and a rollback among such commits counts in both.
    """

    def __init__(
        self,
        branch: EnvironmentBranch,
        environments: Mapping[str, Environment],
        context: CommandContext,
    ) -> None:
        self._branch = branch
        self._remotes = context.remotes
        self._others = {other.control_plane.branch for other in environments.values()}
        self._others.discard(branch.name)
        main = context.main()
        head = self._remotes.heads(branch.url, [main])[main]
        self.main: Ancestry = self._remotes.ancestry(branch.url, head)
        self._lines: tuple[frozenset[str], ...] | None = None

    def writes(self) -> Iterator[BaseWrite]:
        """Yield the writes of the branch, newest first."""
        branch = self._branch
        folder = branch.environment.control_plane.path
        return read_base_writes(self._remotes, branch.url, branch.head, folder, self.main)

    @cached_property
    def segments(self) -> list[list[str | None]]:
        """The commits that the writes name, divided where the branch was cut from others."""
        return [
            [write.promoted_commit for write in segment]
            for _, segment in groupby(self.writes(), self.others_with)
        ]

    def others_with(self, write: BaseWrite) -> tuple[bool, ...]:
        """Return for each other environment's branch whether its line has the write, too."""
        if self._lines is None:
            heads = self._remotes.heads(self._branch.url, self._others).values()
            self._lines = tuple(
                frozenset(self._remotes.ancestry(self._branch.url, head).first_parents())
                for head in sorted(set(heads))
            )
        return tuple(write.environment_commit in line for line in self._lines)


def read_environment(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> EnvironmentReading:
    """Read an environment's branch of the control plane, with a given reader or that of a context.

    Raises KalypsoError if any part of the branch cannot be read: the clusters of an overlooked
    GitOpsRepo would not be checked.
    """
    reading = read_leniently(context, environment, reader)
    if reading.problems:
        raise KalypsoError.of(reading.problems)
    return reading


def read_leniently(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> EnvironmentReading:
    """Read an environment's branch of the control plane as `read_environment`, as far as it can.

    Raises KalypsoError for a branch that cannot be read at all.
    """
    place, url = environment.control_plane, context.url(context.control_plane)
    own = (reader or context.reader).documents(RepositoryPath(url, place.branch, place.path))
    base = base_document(own.documents)
    promoted_commit = base.promoted_commit if base else None
    return EnvironmentReading(environment.name, own, environment, url, promoted_commit)


def gitops_branches(
    context: CommandContext,
    environment: Environment,
    repos: tuple[GitOpsRepo, ...],
    faults: Iterable[Problem] = (),
) -> tuple[GitOpsBranch, ...]:
    """Return the branches that an environment's GitOpsRepos name.

    `faults` are those of the environment's branch: without a GitOpsRepo, they may hide one. Raises
    KalypsoError for no GitOpsRepo, or one outside of this GitHub.
    """
    if not repos:
        causes = tuple(dict.fromkeys(faults))
        if causes:
            raise KalypsoError.of(causes)
        raise KalypsoError(
            f"the environment {environment.name} has no GitOpsRepo",
            environment.where,
            f"add one on its branch {environment.control_plane.branch}: it says where "
            "manifests are proposed",
        )
    return tuple(
        GitOpsBranch(
            repository=context.repository(repo.target.repo, repo.where),
            url=repo.target.repo,
            branch=repo.target.branch,
            folder=gitops_folder(repo.target.path, repo.where),
            where=repo.where,
            gitops_repo=repo.name,
        )
        for repo in repos
    )
