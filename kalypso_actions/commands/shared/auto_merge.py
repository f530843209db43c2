"""Disable GitHub's auto-merge of our pull requests of an environment, whatever they propose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import auto_merges, pull_requests, viewer
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.gitops_branches import gitops_branches, read_leniently
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.report import pull_request_mark


def disable_all(
    name: str, context: CommandContext, *, of_people: bool = False
) -> Iterator[Problem]:
    """Disable the auto-merge of all our pull requests of an environment; yield problems.

    With `of_people`, also disable an auto-merge that people enabled, with a warning. The next run
    of schedule that may merge the pull requests enables it again.
    """
    try:
        environment = context.environment(name)
        reading = read_leniently(context, environment)
    except KalypsoError as error:
        yield from map(_still_enabled, error.problems)
        return
    for repo in reading.gitops_repos:
        try:
            (place,) = gitops_branches(context, environment, (repo,))
            repository = place.repository
            for pull in possible_pull_requests(context, name, repository, place.branch):
                by_us = is_own(repository, pull, context)
                if pull.auto_merge_by and (of_people or by_us):
                    merged = disable(repository, pull, context)
                    _forget_refusal(repository, pull, context)
                    if merged:
                        yield _still_enabled(merged)
                    elif not by_us:
                        yield enabled_by_person(repository, pull)
        except KalypsoError as error:
            yield from map(_still_enabled, error.problems)


def possible_pull_requests(
    context: CommandContext, environment: str, repository: str, branch: str
) -> Iterator[PullRequest]:
    """Yield the open pull requests into a GitOps branch that may be ours for an environment.

    These include those of former identities, and those without our marker from a branch with the
    form of ours: people may rewrite a description, and GitHub still merges. Raises GitHubError.
    """
    identity = viewer.identity(context.github, repository)
    for pull in pull_requests.open_into(context.github, repository, branch):
        author, head, mark = pull.author, pull.head_branch, pull_request_mark.read_mark(pull.body)
        marked = mark is not None or head.startswith(OWN_BRANCHES)
        by_us = identity.wrote(author, is_marked=marked)
        by_us = by_us or identity.formerly_wrote(author, is_marked=marked)
        fits = gitops.may_be_own_branch(head, environment)
        if mark:
            fits = pull_request_mark.is_ours(pull.body, environment, context.control_plane)
        if by_us and fits and pull.head_repository.lower() == repository.lower():
            yield pull


def is_own(repository: str, pull: PullRequest, context: CommandContext) -> bool:
    """Whether we enabled the auto-merge of a pull request, now or as a former identity."""
    identity, login = viewer.identity(context.github, repository), pull.auto_merge_by
    return identity.wrote(login) or identity.formerly_wrote(login)


def disable(repository: str, pull: PullRequest, context: CommandContext) -> Problem | None:
    """Disable the auto-merge of a pull request; return a problem if GitHub has merged it."""
    if auto_merges.disable(context.github, repository, pull.number).merged:
        message = f"GitHub has merged #{pull.number} during this run"
        return Problem(message, Location(repository), "run schedule again")
    context.runtime.log(f"{repository}: the auto-merge of #{pull.number} is off")
    return None


def enabled_by_person(repository: str, pull: PullRequest) -> Problem:
    """Return the warning that a person's auto-merge of a pull request is off."""
    number, person = pull.number, pull.auto_merge_by
    message = f"the auto-merge of #{number} is off: {person} enabled it for other content"
    return Problem(message, Location(repository), "enable it again if it is wanted")


def _still_enabled(problem: Problem) -> Problem:
    return replace(problem, message=f"an auto-merge may still be enabled: {problem.message}")


def _forget_refusal(repository: str, pull: PullRequest, context: CommandContext) -> None:
    """Let poll start schedule once more for a pull request of ours.

    Otherwise poll waits until the state differs from that of the last refused merge.
    """
    mark = pull_request_mark.read_mark(pull.body)
    if mark and viewer.identity(context.github, repository).wrote(pull.author):
        body = pull_request_mark.marked(pull.body, replace(mark, tried=None))
        pull_requests.set_texts(context.github, repository, pull, pull.title, body)
