"""Read the facts of a proposal by one query; read lists for the facts that the query leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from kalypso_actions.clients.github import GitHubError, proposal_overviews, pull_requests
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.overviews import ProposalOverview


def read_overview(
    state: GitOpsState, context: CommandContext
) -> tuple[ProposalOverview, Sequence[PullRequest]]:
    """Return the overview, and the open pull requests from our branch, newest first.

    Raises GitHubError if GitHub does not answer the REST API.
    """
    github, repository = context.github, state.repository
    overview = _overview(state, context)
    if overview.from_branch is None:
        return overview, pull_requests.find(github, repository, head=state.own_branch)
    pulls = [pull for pull in overview.from_branch if pull.head_branch == state.own_branch]
    for pull in pulls:
        github.recent_writes.add_pull_request(repository, pull)
    return overview, sorted(pulls, key=lambda pull: -pull.number)


def open_pulls(
    overview: ProposalOverview,
    own: Sequence[PullRequest],
    state: GitOpsState,
    context: CommandContext,
) -> tuple[PullRequest, ...]:
    """Return all open pull requests into the GitOps branch, oldest first; `own` are known.

    Raises GitHubError.
    """
    known = {pull.number: pull for pull in own if pull.base_branch == state.branch}
    numbers = overview.into_branch
    if numbers is None or not known.keys() >= set(numbers):
        return pull_requests.open_into(context.github, state.repository, state.branch)
    return tuple(known[number] for number in sorted(numbers))


def _overview(state: GitOpsState, context: CommandContext) -> ProposalOverview:
    """Return the overview; an empty one if GitHub refuses the query: REST gives the reason."""
    try:
        return proposal_overviews.read(
            context.github,
            state.repository,
            head=state.own_branch,
            base=state.branch,
            commit=state.own_head,
        )
    except GitHubError as error:
        context.runtime.log(f"{error.problem.message}; they are listed one by one")
        return ProposalOverview()
