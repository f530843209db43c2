"""Keep GitHub from merging what this run may not merge, before the run writes anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions import gitops
from kalypso_actions.clients.github import auto_merges, viewer
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.schedule_inputs import our_pull_requests
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot, MovedError
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import PullRequest


def disable_auto_merges(
    read: EnvironmentSnapshot, proposals: Sequence[ProposalPlan], context: CommandContext
) -> tuple[Problem, ...]:
    """Disable GitHub's auto-merge of our pull requests if `gitops.ends_auto_merge` says so.

    Without `proposals` the environment is blocked. Returns a warning for each that a person had
    enabled. Raises MovedError if GitHub has merged one meanwhile, and GitHubError.
    """
    warnings = []
    for repository, pull, decision, merges in _pull_requests(read, proposals, context):
        if not pull.auto_merge_by:
            continue
        is_own = viewer.identity(context.github, repository).wrote(pull.auto_merge_by)
        if not gitops.ends_auto_merge(decision, merges=merges, is_own=is_own):
            continue
        where = Location(repository)
        if auto_merges.disable(context.github, repository, pull.number).merged:
            message = f"GitHub has merged #{pull.number} during this run"
            raise MovedError(message, where, "run schedule again")
        number, person = pull.number, pull.auto_merge_by
        context.runtime.log(f"{repository}: the auto-merge of #{number} is off")
        if not is_own:
            message = f"the auto-merge of #{number} is off: {person} enabled it for other content"
            warnings.append(Problem(message, where, "enable it again if it is wanted"))
    return tuple(warnings)


def _pull_requests(
    read: EnvironmentSnapshot, proposals: Sequence[ProposalPlan], context: CommandContext
) -> Iterator[tuple[str, PullRequest, gitops.Decision | None, bool]]:
    """Yield the repository of each of our open pull requests, the decision, and if it is merged."""
    for proposal in proposals:
        repository = proposal.state.repository
        if proposal.pull:
            yield repository, proposal.pull, proposal.decision, bool(proposal.merged_by)
        for pull in filter(None, (proposal.former_pull, *proposal.stale_pulls)):
            yield repository, pull, gitops.Decision("withdraw"), False
    if proposals:
        return
    for state in read.states:
        name, repository = read.environment.name, state.repository
        for pull in our_pull_requests(context, name, repository, state.branch):
            yield repository, pull, None, False
