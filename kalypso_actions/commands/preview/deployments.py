"""The statuses of promotions in the environments that a change reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.commands.preview.environments import ComparedBranch
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.statuses import context as status_context


def failed_deployments(context: CommandContext, compared: ComparedBranch) -> Mapping[str, str]:
    """Return the status of a failed deployment, by environment.

    The status is that of the environment's commit of main. Return none if the token may not read
    statuses.
    """
    promoted = {
        item.name: item.promoted_commit
        for item in compared.environments
        if item.promoted_commit and item.name in compared.after
    }
    try:
        known = statuses.of_commits(
            context.github, context.control_plane, frozenset(promoted.values())
        )
    except GitHubError as error:
        context.runtime.log(f"It is unknown which deployments failed: {error.problem.message}")
        return {}
    return dict(_failures(promoted, known))


def _failures(
    promoted: Mapping[str, str], known: Mapping[str, Mapping[str, CommitStatus]]
) -> Iterator[tuple[str, str]]:
    for environment, commit in promoted.items():
        status = known.get(commit, {}).get(status_context(environment).lower())
        if status and status.state == "failure":
            yield environment, status.description
