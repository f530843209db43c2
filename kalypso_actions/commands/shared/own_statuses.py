"""The statuses of a commit that the chain has posted."""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.clients.github import statuses, viewer
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.statuses import posted_by_chain, posted_by_others


def own_statuses(
    context: CommandContext, commit: str, *, any_app: bool = False
) -> Mapping[str, CommitStatus]:
    """Return the latest statuses of a commit of the control plane by context, in lower case.

    Leave out those of other accounts, and warn once about each account. `any_app`: with a job's
    token, those of every App count (see `Identity.may_be_of_chain`). Raises GitHubError.
    """
    github, control_plane = context.github, context.control_plane
    # The combined status of REST lacks authors.
    posted = statuses.of_commits(github, control_plane, [commit]).get(commit, {})
    identity = viewer.identity(github, control_plane)
    own = posted_by_chain(posted, identity, any_app=any_app)
    for status in posted_by_others(posted, own):
        _warn(context, commit, status)
    return own


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
    context.runtime.log(f"{problem.message} ({problem.advice})")
    context.runtime.runner.annotate("warning", [problem], "kalypso")
