"""Open, update and close the issues about an environment's failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from kalypso_actions.clients.github import GitHubError, issues, viewer
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import FAILURE, KALYPSO, make_labels
from kalypso_actions.errors import Problem
from kalypso_actions.model.github import Issue
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import Plan
from kalypso_actions.report import failure_issues, markdown
from kalypso_actions.report.failure_issues import FailingAssignment, FailureIssue

LABELS: Final = (FAILURE, KALYPSO)

DISABLED: Final = 410
"""GitHub's answer to the creation of an issue in a repository without issues."""


def update_issues(
    repository: str, plan: Plan, snapshot: Snapshot, max_issues: int, context: CommandContext
) -> tuple[Problem, ...]:
    """Keep one open issue for each failing assignment and each unusable registration.

    Beyond `max_issues`, one issue lists the other assignments. Close issues about failures that
    are gone; keep those about preserved folders. Returns a warning if the repository has issues
    disabled and needs one. Raises GitHubError.
    """
    failing = _failing(plan)
    unusable = _unusable(plan, snapshot, context)
    fails = bool(failing or unusable)
    known = issues.candidates(context.github, repository, LABELS, with_closed=fails)
    identity = viewer.identity(context.github, repository)
    ours = [issue for issue in known if issues.is_ours(issue, identity, LABELS)]
    run_url = context.runtime.job.run_url
    described = failure_issues.assignment_issues(
        failing, plan.environment, ours, max_issues, run_url
    )
    wanted = {issue.title: issue for issue in (*described, *unusable)}
    try:
        _write(repository, wanted.values(), known, ours, context)
    except GitHubError as error:
        if error.status != DISABLED:
            raise
        return error.problems
    for settled in failure_issues.settled(known, plan.environment, wanted, _is_unknown(plan)):
        _close(repository, settled, plan, context)
    return ()


def _write(
    repository: str,
    wanted: Collection[FailureIssue],
    known: Sequence[Issue],
    ours: Sequence[Issue],
    context: CommandContext,
) -> None:
    if wanted:
        make_labels(repository, LABELS, context)
    for issue in wanted:
        written, outcome = issues.ensure(
            context.github,
            repository,
            title=issue.title,
            body=failure_issues.as_written(issue, ours),
            labels=LABELS,
            among=known,
        )
        context.runtime.log(f"{repository}: issue #{written.number} {outcome}: {issue.title}")


def _failing(plan: Plan) -> list[FailingAssignment]:
    return [
        FailingAssignment(
            item.assignment.target.name,
            item.assignment.cluster_type.name,
            item.failure.problem,
        )
        for item in plan.assignments
        if item.failure
    ]


def _unusable(plan: Plan, snapshot: Snapshot, context: CommandContext) -> list[FailureIssue]:
    run_url = context.runtime.job.run_url
    return [
        failure_issues.registration_issue(
            reading.registration.name, plan.environment, reading.problems, run_url
        )
        for reading in snapshot.registrations
        if reading.problems
    ]


def _is_unknown(plan: Plan) -> Callable[[str, str], bool]:
    def is_unknown(cluster_type: str, target: str) -> bool:
        return any(folders.includes(cluster_type, target) for folders in plan.preserved)

    return is_unknown


def _close(repository: str, issue: Issue, plan: Plan, context: CommandContext) -> None:
    url = context.runtime.job.run_url
    run = f" {markdown.link('This run', url)} has found it so." if url else ""
    issues.close(
        context.github,
        repository,
        issue.number,
        mark=markdown.marker("settled", plan.environment),
        comment=f"This does not fail any more, or does not exist any more.{run}",
    )
    context.runtime.log(f"{repository}: issue #{issue.number} closed: {issue.title}")
