"""The visibility of repositories on GitHub."""

from __future__ import annotations

from kalypso_actions.clients.github import GitHubError, repositories
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import Visibility


def visibility_of(context: CommandContext, url: str) -> Visibility | None:
    """Return the visibility of a repository; None if GitHub does not show it.

    Raises GitHubError for errors other than 403 and 404.
    """
    try:
        return repositories.get(context.github, context.repository(url)).visibility
    except GitHubError as error:
        if error.status not in {403, 404}:
            raise
        return None
    except KalypsoError:  # the repository is on another server
        return None
