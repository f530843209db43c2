"""The statuses that the chain has posted, with the records of starts and of written trees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.own_account import JOBS, Identity
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.promotion.start_records import (
    StartRecord,
    read_record,
    read_trees,
    tree_context,
    trees_status,
)
from kalypso_actions.promotion.statuses import is_deployed, posted_by_chain, posted_by_others

NOT_ALLOWED: Final = frozenset({403, 404, 422})
"""The token cannot use statuses, or the control plane does not have the commit."""


def own_statuses(
    context: CommandContext, commit: str, *, any_app: bool = False
) -> Mapping[str, CommitStatus]:
    """Return the latest statuses of a commit of the control plane by context, in lower case.

    Leave out those of other accounts, and warn once about each account. `any_app`: with a job's
    token, those of every App count (see `Identity.may_be_of_chain`). Raises GitHubError.
    """
    return own_statuses_of(context, [commit], any_app=any_app).get(commit, {})


def own_statuses_of(
    context: CommandContext, commits: Collection[str], *, any_app: bool = False
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return for each commit what `own_statuses` returns; one request reads a hundred commits."""
    github, control_plane = context.github, context.control_plane
    # The combined status of REST lacks authors.
    posted = statuses.of_commits(github, control_plane, commits)
    identity = chain_identity(context, any_app=any_app)
    own = {
        commit: posted_by_chain(each, identity, any_app=any_app) for commit, each in posted.items()
    }
    for commit, each in posted.items():
        for status in posted_by_others(each, own[commit]):
            _warn(context, commit, status)
    return own


def was_deployed(
    context: CommandContext, commit: str, status_context: str, *, any_app: bool = False
) -> bool:
    """Return whether the chain ever posted `Deployed` for a commit. Raises GitHubError.

    `any_app`: as for `own_statuses`.
    """
    identity = chain_identity(context, any_app=any_app)
    return any(map(is_deployed, _ever_posted(context, commit, status_context, identity)))


def _ever_posted(
    context: CommandContext, commit: str, status_context: str, identity: Identity
) -> Iterator[CommitStatus]:
    """Yield all statuses of a context that the chain may have posted on a commit."""
    for status in statuses.history(context.github, context.control_plane, commit):
        is_here = status.context.lower() == status_context.lower()
        if is_here and identity.may_be_of_chain(status.author):
            yield status


def chain_identity(context: CommandContext, *, any_app: bool) -> Identity:
    """Return the account by which the statuses of the chain are told from those of others.

    `any_app`: as for `own_statuses`.
    """
    identity = context.github.identity(context.control_plane)
    if any_app and not context.runtime.job.in_actions:
        # A person at a terminal knows the chain's accounts as little as a job does.
        return Identity(JOBS, frozenset({identity.login, *identity.former}))
    return identity


def latest_record(context: CommandContext, commit: str, status_context: str) -> StartRecord | None:
    """Return the chain's record on a commit of the control plane, or None.

    A token that cannot read statuses reads no record. Raises GitHubError for other failures.
    """
    try:
        # Another command of the chain may have recorded it, with the App's token.
        posted = own_statuses(context, commit, any_app=True)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"The record of the start is not read: {error.problem.message}")
        return None
    return read_record(posted.get(status_context.lower()))


def was_recorded(context: CommandContext, commit: str, status_context: str, subject: str) -> bool:
    """Return whether the chain has ever recorded a start of this subject on a commit.

    Two starts of the same commit follow each other if two environments lead to one. Raises
    GitHubError as `latest_record`.
    """
    latest = latest_record(context, commit, status_context)
    if latest is None or latest.subject == subject:
        return latest is not None
    identity = context.github.identity(context.control_plane)
    records = map(read_record, _ever_posted(context, commit, status_context, identity))
    return any(record is not None and record.subject == subject for record in records)


def written_trees(
    context: CommandContext, environment: str, bases: Iterable[BaseTree]
) -> frozenset[str]:
    """Return the ids of the trees that the chain has written for the commits that `bases` name.

    Return none if GitHub does not answer: then the run renders everything.
    """
    # A run that ends early does not wait for this import.
    from kalypso_actions.gitops.provenance import read_sources  # noqa: PLC0415

    written: set[str] = set()
    commits = {
        previous.environment_branch.commit
        for base in bases
        for previous in [read_sources(base.sources, environment)]
        if previous and previous.inputs and previous.environment_branch
    }
    for commit in sorted(filter(None, commits)):
        try:
            written.update(_recorded(context, environment, commit))
        except GitHubError as error:
            context.runtime.log(f"No folder is taken over: {error.problem.message}")
    return frozenset(written)


def record_trees(
    context: CommandContext, environment: str, commit: str, written: Collection[str]
) -> None:
    """Record the ids of written trees on the commit of the environment's branch.

    If the token cannot post statuses, the next run renders everything. Raises GitHubError for other
    failures.
    """
    try:
        before = _recorded(context, environment, commit)
        if set(written) - set(before):
            status = trees_status(environment, written, before)
            statuses.post(context.github, context.control_plane, commit, status, is_new=True)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"The tree is not recorded: {error.problem.message}")


def _recorded(context: CommandContext, environment: str, commit: str) -> tuple[str, ...]:
    posted = own_statuses(context, commit)
    return read_trees(posted.get(tree_context(environment).lower()))


def _warn(context: CommandContext, commit: str, status: CommitStatus) -> None:
    if status.author in context.ignored_accounts:
        return
    context.ignored_accounts.add(status.author)
    problem = Problem(
        f"{status.author} posted the status '{status.context}' of {commit[:7]}, which does not"
        " count",
        Location(context.url(context.control_plane)),
        "if the account is Kalypso's, name it in former-identities",
    )
    context.warn(problem)
