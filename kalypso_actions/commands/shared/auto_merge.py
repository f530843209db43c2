"""GitHub's auto-merge of our pull requests, which must not merge what a run would not merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from kalypso_actions.clients.github import pull_requests
from kalypso_actions.commands.shared.carry_out import Done, MovedError, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import gitops_branches, read_leniently
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.gitops.own_files import may_be_own_branch
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.writes import DisableAutoMerge
from kalypso_actions.report import pull_request


def possible_pull_requests(
    pulls: Iterable[PullRequest],
    identity: Identity,
    environment: str,
    repository: str,
    control_plane: str,
) -> Iterator[PullRequest]:
    """Yield the open pull requests into a GitOps branch that may be ours for an environment.

    These include those of former identities, and those without our marker from a branch
    that is named like ours: people may rewrite a description, and GitHub still merges.
    """
    for pull in pulls:
        author, head, mark = pull.author, pull.head_branch, pull_request.read_mark(pull.body)
        marked = mark is not None or head.startswith(OWN_BRANCHES)
        by_us = identity.wrote(author, is_marked=marked)
        by_us = by_us or identity.formerly_wrote(author, is_marked=marked)
        fits = may_be_own_branch(head, environment)
        if mark:
            fits = pull_request.is_ours(pull.body, environment, control_plane)
        if by_us and fits and pull.head_repository.lower() == repository.lower():
            yield pull


def is_enabled_by_us(pull: PullRequest, identity: Identity) -> bool:
    """Whether we enabled the auto-merge of a pull request, now or as a former identity."""
    return identity.wrote(pull.auto_merge_by) or identity.formerly_wrote(pull.auto_merge_by)


def read_auto_merges(
    name: str, context: CommandContext, *, of_people: bool = False
) -> tuple[list[DisableAutoMerge], list[Problem]]:
    """Return the writes that disable the auto-merge of all our pull requests of an environment.

    They come with problems of what cannot be read. With `of_people`, include those that people
    enabled. The next run of schedule that may merge the pull requests enables it again.
    """
    writes: list[DisableAutoMerge] = []
    problems: list[Problem] = []
    try:
        environment = context.environment(name)
        reading = read_leniently(context, environment)
    except KalypsoError as error:
        return [], [_still_enabled(problem) for problem in error.problems]
    for repo in reading.gitops_repos:
        try:
            (branch,) = gitops_branches(context, environment, (repo,))
            repository = branch.repository
            identity = context.github.identity(repository)
            every = pull_requests.open_into(context.github, repository, branch.branch)
        except KalypsoError as error:
            problems += map(_still_enabled, error.problems)
            continue
        writes += [
            DisableAutoMerge(repository, pull, forgets_refusal=True)
            for pull in possible_pull_requests(
                every, identity, name, repository, context.control_plane
            )
            if pull.auto_merge_by and (of_people or is_enabled_by_us(pull, identity))
        ]
    return writes, problems


def disable_all(name: str, context: CommandContext) -> list[Problem]:
    """Disable the auto-merges of all our pull requests of an environment; return problems."""
    writes, problems = read_auto_merges(name, context)
    done = carry_out(writes, context, Done((DisableAutoMerge,)))
    return [*problems, *auto_merge_warnings(done, context)]


@contextmanager
def disabled_on_failure(inputs: ScheduleInputs, context: CommandContext) -> Iterator[None]:
    """Disable our auto-merges if the block fails, as in an environment that is blocked.

    The error is raised again.
    """
    try:
        yield
    except Exception:
        if not inputs.dry_run:
            for problem in disable_all(inputs.environment, context):
                context.runtime.log(str(problem))
        raise


def warnings_of_ended(done: Done, context: CommandContext) -> list[Problem]:
    """Return a warning for each auto-merge of a person that a run has disabled.

    Raises MovedError if GitHub has merged a pull request before its auto-merge was off.
    """
    for write, now in done.disabled:
        if now.merged:
            raise MovedError.of([merged_meanwhile(write)])
    return [
        enabled_by_person(write)
        for write, _ in done.disabled
        if not is_enabled_by_us(write.pull, context.github.identity(write.repository))
    ]


def auto_merge_warnings(done: Done, context: CommandContext) -> Iterator[Problem]:
    """Yield what disabling auto-merges has brought: a merge in between, a refusal, a person's."""
    for write, now in done.disabled:
        identity = context.github.identity(write.repository)
        if now.merged:
            yield _still_enabled(merged_meanwhile(write))
        elif not is_enabled_by_us(write.pull, identity):
            yield enabled_by_person(write)
    yield from map(_still_enabled, done.problems)


def merged_meanwhile(write: DisableAutoMerge) -> Problem:
    """Return the problem of a pull request that GitHub has merged before its auto-merge was off."""
    message = f"GitHub has merged #{write.pull.number} during this run"
    return Problem(message, Location(write.repository), "run schedule again")


def enabled_by_person(write: DisableAutoMerge) -> Problem:
    """Return the warning that a person's auto-merge of a pull request is off."""
    number, person = write.pull.number, write.pull.auto_merge_by
    message = f"the auto-merge of #{number} is off: {person} enabled it for other content"
    return Problem(message, Location(write.repository), "enable it again if it is wanted")


def _still_enabled(problem: Problem) -> Problem:
    return replace(problem, message=f"an auto-merge may still be enabled: {problem.message}")
