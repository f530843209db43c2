"""Start workflows of the control plane, and record each start so that poll can repeat it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kalypso_actions.clients.github import GitHubError, statuses, workflows
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.promotion import start_records
from kalypso_actions.promotion.schedule_runs import is_served
from kalypso_actions.promotion.start_records import StartRecord, read_record

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds to wait after a dispatch with an unknown result."""

NOT_ALLOWED: Final = frozenset({403, 404, 422})
"""The token cannot use statuses, or the control plane does not have the commit."""


def start_cd(
    context: CommandContext,
    workflow: str,
    *,
    environment: str,
    promoted_commit: str,
    promoted_from: str,
    attempt: int = 1,
) -> str:
    """Record the start of cd on the promoted commit, then start it; return the run's page.

    Raises GitHubError.
    """
    status_context = start_records.cd_context(environment)
    post_record(
        context, promoted_commit, status_context, start_records.starting(promoted_from, attempt)
    )
    given = {
        "promoted_commit_id": promoted_commit,
        "environment": environment,
        "promoted_from": promoted_from,
    }
    return start_workflow(context, workflow, given)


def start_check_promote(
    context: CommandContext,
    workflow: str,
    *,
    environment: str,
    promoted_commit: str,
    gitops_commit: str,
    repository: str,
    started_at: str = "",
    attempt: int = 1,
) -> str:
    """Record the start of check-promote on the promoted commit, then start it.

    A change of configuration (`promoted_commit` "") is not recorded, because it promotes nothing.
    `repository` is the GitOps repository as owner/name. Returns the run's page. Raises GitHubError.
    """
    if promoted_commit:
        status_context = start_records.check_promote_context(environment, repository)
        post_record(
            context, promoted_commit, status_context, start_records.starting(gitops_commit, attempt)
        )
    given = {
        "environment": environment,
        "promoted_commit_id": promoted_commit,
        "commit_id": gitops_commit,
        "gitops_repository": repository,
        "started_at": started_at,
    }
    return start_workflow(context, workflow, given)


def start_schedule(
    context: CommandContext,
    workflow: str,
    *,
    environment: str,
    environment_commit: str,
    digest: str = start_records.UNREAD,
    attempt: int = 1,
    force: bool = False,
) -> str:
    """Record the start of schedule on the environment branch's head, then start it.

    `digest` is that of the inputs, if the caller knows it. A recorded start with `force` whose run
    has not begun passes `force` on: GitHub cancels a waiting run of schedule for a newer one.
    Returns the run's page. Raises GitHubError.
    """
    status_context = start_records.schedule_context(environment)
    force = force or _awaits_force(context, environment_commit, status_context)
    post_record(
        context,
        environment_commit,
        status_context,
        start_records.starting(digest, attempt, force=force),
    )
    given = {"environment": environment, "force": "true" if force else ""}
    return start_workflow(context, workflow, given)


def acknowledge_cd(context: CommandContext, environment: str, promoted_commit: str) -> None:
    """Record that a run of cd has begun, unless a person started it. Raises GitHubError."""
    status_context = start_records.cd_context(environment)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind in {"starting", "given up"}:
        received = StartRecord("received", record.subject)
        post_record(context, promoted_commit, status_context, received)


def acknowledge_check_promote(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    gitops_commit: str,
) -> None:
    """Record that a run of check-promote checks this commit of a GitOps branch.

    Raises GitHubError.
    """
    if promoted_commit is not None:
        status_context = start_records.check_promote_context(environment, repository)
        post_record(
            context, promoted_commit, status_context, StartRecord("received", gitops_commit)
        )


def record_compliant(
    context: CommandContext,
    environment: str,
    promoted_commit: str,
    repository: str,
    gitops_commit: str,
    compliant: tuple[int, int],
) -> None:
    """Record the numbers of compliant clusters and of all clusters for `kalypso status`.

    The record of a start for a later merge stays. Raises GitHubError.
    """
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "received" and record.subject == gitops_commit:
        new = StartRecord("received", gitops_commit, compliant=compliant)
        post_record(context, promoted_commit, status_context, new)


def record_refusal(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    gitops_commit: str,
) -> None:
    """Record that the repositories contradict a recorded start, so that poll does not repeat it.

    Record nothing for other requests. Raises GitHubError.
    """
    if not (promoted_commit and repository):
        return
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "starting" and record.subject == gitops_commit:
        post_record(context, promoted_commit, status_context, StartRecord("refused", gitops_commit))


def acknowledge_end(
    context: CommandContext,
    environment: str,
    promoted_commit: str | None,
    repository: str,
    checked: Collection[str],
    gitops_commit: str,
) -> None:
    """Record the newest commit that a run of check-promote has `checked`, at its end.

    The record of a start for a later merge stays. Raises GitHubError.
    """
    if promoted_commit is None:
        return
    status_context = start_records.check_promote_context(environment, repository)
    record = latest_record(context, promoted_commit, status_context)
    if record and record.kind == "starting" and record.subject not in checked:
        return
    acknowledge_check_promote(context, environment, promoted_commit, repository, gitops_commit)


def latest_record(context: CommandContext, commit: str, status_context: str) -> StartRecord | None:
    """Return the chain's record on a commit of the control plane, or None.

    A token that cannot read statuses reads no record. Raises GitHubError for other failures.
    """
    try:
        # Another command of the chain may have recorded it, with the App's token.
        posted = own_statuses(context, commit, any_app=True)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"The record of the start is not read: {error.problem.message}")
        return None
    return read_record(posted.get(status_context.lower()))


def _awaits_force(context: CommandContext, commit: str, status_context: str) -> bool:
    """Whether a recorded start of schedule with `force` still waits for its run.

    Only our own records count. Raises GitHubError.
    """
    if is_served(latest_record(context, commit, status_context), force=False):
        return False
    record = read_record(own_statuses(context, commit).get(status_context.lower()))
    return not is_served(record, force=False)


def post_record(
    context: CommandContext,
    commit: str,
    status_context: str,
    record: StartRecord,
    *,
    is_new: bool = False,
) -> None:
    """Post a record on a commit of the control plane; for `is_new` see `statuses.post`.

    If the token cannot post statuses, poll cannot repeat a lost start. Raises GitHubError for other
    failures.
    """
    status = record.status(status_context, context.runtime.job.run_url)
    try:
        statuses.post(context.github, context.control_plane, commit, status, is_new=is_new)
    except GitHubError as error:
        if error.status not in NOT_ALLOWED:
            raise
        context.runtime.log(f"The start is not recorded: {error.problem.message}")


def start_workflow(context: CommandContext, workflow: str, inputs: Mapping[str, str]) -> str:
    """Start a workflow of main by its file's name; return the page of the run, or of all runs.

    Leave out inputs without a value. After an unknown result, repeat the start: every workflow is
    idempotent. Raises GitHubError.
    """
    given = {name: value for name, value in inputs.items() if value}
    delays = iter(DELAYS)
    while True:
        try:
            run = workflows.dispatch(
                context.github,
                context.control_plane,
                workflow,
                ref=context.main(),
                inputs=given,
            )
            break
        except GitHubError as error:
            delay = next(delays, None)
            if delay is None or not error.uncertain:
                raise
            context.runtime.sleep(delay)
    runs = f"{context.url(context.control_plane)}/actions/workflows/{workflow}"
    url = run.url if run else runs
    values = ", ".join(f"{name} {value}" for name, value in given.items())
    context.runtime.log(f"Started {workflow} ({values}): {url}")
    return url
