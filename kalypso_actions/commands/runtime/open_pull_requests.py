"""The GitOps branches of an environment as poll and schedule compare them."""

from __future__ import annotations

from kalypso_actions.clients.github import pull_requests
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.model.github import PullRequest
from kalypso_actions.report import pull_request


def our_pull_requests(
    context: CommandContext, environment: str, repository: str, branch: str
) -> tuple[PullRequest, ...]:
    """Our open pull requests of an environment into a GitOps branch, oldest first.

    They are known by the marks of their bodies: the prefix of our branches is schedule's input.
    Raises GitHubError.
    """
    found = pull_requests.open_into(context.github, repository, branch)
    return tuple(
        one
        for one in found
        if one.head_repository.lower() == repository.lower()
        and pull_request.is_ours(one.body, environment)
    )
