"""Read and post the ids of the trees that schedule has written: see `promotion.start_records`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import NOT_ALLOWED, own_statuses
from kalypso_actions.gitops.provenance import read_sources
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.promotion.start_records import read_trees, tree_context, trees_status


def written_trees(
    context: CommandContext, environment: str, bases: Iterable[BaseTree]
) -> frozenset[str]:
    """Return the ids of the trees that the chain has written for the commits that `bases` name.

    Return none if GitHub does not answer: then the run renders everything.
    """
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
