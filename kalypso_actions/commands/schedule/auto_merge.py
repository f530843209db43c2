"""Keep GitHub from merging what this run may not merge, before the run writes anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import auto_merges, pull_requests, viewer
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.gitops_branches import gitops_branches, read_leniently
from kalypso_actions.commands.runtime.schedule_inputs import our_pull_requests
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot, MovedError
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import PullRequest
from kalypso_actions.report import pull_request


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
        is_own = _is_own(repository, pull, context)
        if not gitops.ends_auto_merge(decision, merges=merges, is_own=is_own):
            continue
        _disable(repository, pull, context)
        if not is_own:
            number, person = pull.number, pull.auto_merge_by
            message = f"the auto-merge of #{number} is off: {person} enabled it for other content"
            advice = "enable it again if it is wanted"
            warnings.append(Problem(message, Location(repository), advice))
    return tuple(warnings)


@contextmanager
def disabled_on_failure(environment: str, context: CommandContext) -> Iterator[None]:
    """Disable our auto-merges if the block fails, as in an environment that is blocked.

    The error is raised again; it is logged if an auto-merge cannot be disabled.
    """
    try:
        yield
    except Exception:
        for problem in _disable_all(environment, context):
            context.runtime.log(f"An auto-merge may still be enabled: {problem}")
        raise


def _disable_all(name: str, context: CommandContext) -> Iterator[Problem]:
    """Disable our auto-merges into the GitOps branches that can be read; yield all problems.

    The next run that does not fail enables them again.
    """
    try:
        environment = context.environment(name)
        reading, _ = read_leniently(context, environment)
    except KalypsoError as error:
        yield from error.problems
        return
    for repo in reading.gitops_repos:
        try:
            (place,) = gitops_branches(context, environment, (repo,))
            for pull in our_pull_requests(
                context, name, place.repository, place.branch, former=True
            ):
                if pull.auto_merge_by and _is_own(place.repository, pull, context):
                    _disable(place.repository, pull, context)
                    _forget_refusal(place.repository, pull, context)
        except KalypsoError as error:
            yield from error.problems


def _is_own(repository: str, pull: PullRequest, context: CommandContext) -> bool:
    """Whether we enabled the auto-merge of a pull request, now or as a former identity."""
    identity, login = viewer.identity(context.github, repository), pull.auto_merge_by
    return identity.wrote(login) or identity.formerly_wrote(login)


def _disable(repository: str, pull: PullRequest, context: CommandContext) -> None:
    """Disable the auto-merge of a pull request. Raises MovedError if GitHub has merged it."""
    if auto_merges.disable(context.github, repository, pull.number).merged:
        message = f"GitHub has merged #{pull.number} during this run"
        raise MovedError(message, Location(repository), "run schedule again")
    context.runtime.log(f"{repository}: the auto-merge of #{pull.number} is off")


def _forget_refusal(repository: str, pull: PullRequest, context: CommandContext) -> None:
    """Let poll start schedule once more for a pull request of ours.

    Otherwise it waits for another state than that of the last refused merge.
    """
    mark = pull_request.read_mark(pull.body)
    if mark and viewer.identity(context.github, repository).wrote(pull.author):
        body = pull_request.marked(pull.body, replace(mark, tried=None))
        pull_requests.set_texts(context.github, repository, pull, pull.title, body)


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
        for pull in our_pull_requests(context, name, repository, state.branch, former=True):
            yield repository, pull, None, False
