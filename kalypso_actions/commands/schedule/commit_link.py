"""The link to a commit of main."""

from __future__ import annotations

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.report.markdown import CommitLink


def commit_link(promoted_commit: str | None, context: CommandContext) -> CommitLink | None:
    """Return a commit of main with its page; None for None."""
    if promoted_commit is None:
        return None
    url = f"{context.url(context.control_plane)}/commit/{promoted_commit}"
    return CommitLink(promoted_commit, url)
