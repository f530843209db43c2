"""The statuses of a commit that the chain has posted."""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.clients.github import statuses, viewer
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.statuses import posted_by_chain, posted_by_others


def own_statuses(context: CommandContext, commit: str) -> Mapping[str, CommitStatus]:
    """Return the latest statuses of a commit of the control plane by context, in lower case.

    Those of other accounts are left out, and the log names them. Raises GitHubError.
    """
    github, control_plane = context.github, context.control_plane
    # The combined status of REST lacks authors.
    posted = statuses.of_commits(github, control_plane, [commit]).get(commit, {})
    identity = viewer.identity(github, control_plane)
    for status in posted_by_others(posted, identity):
        context.runtime.log(
            f"{status.author} posted the status '{status.context}' of {commit[:7]}: "
            "it counts only if former-identities names this account"
        )
    return posted_by_chain(posted, identity)
