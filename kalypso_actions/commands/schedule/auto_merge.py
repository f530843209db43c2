"""Disable auto-merges that this run may not leave enabled, before it writes anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kalypso_actions import gitops
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot, MovedError
from kalypso_actions.commands.shared.auto_merge import (
    disable,
    disable_all,
    enabled_by_person,
    is_own,
    possible_pull_requests,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import Problem
from kalypso_actions.model.github import PullRequest


def disable_auto_merges(
    read: EnvironmentSnapshot, proposals: Sequence[ProposalPlan], context: CommandContext
) -> Iterator[Problem]:
    """Disable GitHub's auto-merge of our pull requests if `gitops.ends_auto_merge` says so.

    Without `proposals` the environment is blocked. Yields a warning for each that a person had
    enabled. Raises MovedError if GitHub has merged one meanwhile, and GitHubError.
    """
    for repository, pull, decision, merges in _pull_requests(read, proposals, context):
        if not pull.auto_merge_by:
            continue
        by_us = is_own(repository, pull, context)
        if not gitops.ends_auto_merge(decision, merges=merges, is_own=by_us):
            continue
        problem = disable(repository, pull, context)
        if problem:
            raise MovedError.of([problem])
        if not by_us:
            yield enabled_by_person(repository, pull)


@contextmanager
def disabled_on_failure(environment: str, context: CommandContext) -> Iterator[None]:
    """Disable our auto-merges if the block fails, as in an environment that is blocked.

    The error is raised again.
    """
    try:
        yield
    except Exception:
        for problem in disable_all(environment, context):
            context.runtime.log(str(problem))
        raise


def _pull_requests(
    read: EnvironmentSnapshot, proposals: Sequence[ProposalPlan], context: CommandContext
) -> Iterator[tuple[str, PullRequest, gitops.Decision | None, bool]]:
    """Yield our open pull requests: repository, decision, and whether this run merges them."""
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
        for pull in possible_pull_requests(context, name, repository, state.branch):
            yield repository, pull, None, False
