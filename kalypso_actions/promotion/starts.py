"""The workflows that a command starts, and the record of each start.

Every start is recorded first, so that poll can repeat it: see `start_records`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.writes import Later, NewCommit, PostStatus, StartWorkflow
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.application import check_context, deploy_context
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.lost_starts import MOST_ATTEMPTS, Repair, schedule_due
from kalypso_actions.promotion.start_records import (
    UNREAD,
    StartRecord,
    cd_context,
    check_promote_context,
    schedule_context,
    starting,
)

LOST: Final = "the last start was lost"
CHANGED: Final = "the inputs have changed"
ENTERS: Final = "the environment's policy lets the commit in"
OVER: Final = "a toleration or a score of a Placement is over"


def starts_cd(option: Literal["auto", "true", "false"], *, is_push_to_main: bool) -> bool:
    """Return whether ci starts cd; by default, it does for a push to main (`is_push_to_main`)."""
    return option == "true" or (option == "auto" and is_push_to_main)


def may_repeat_cd(
    environment: str, promoted_from: str, *, first: Collection[str], known: Collection[str]
) -> bool:
    """Return whether poll repeats a start of cd whose record any workflow of main can post.

    ci starts cd for the `first` environments only; otherwise the commit comes from one of the
    `known` environments. cd itself checks that this environment has the commit.
    """
    return environment in first if promoted_from == FROM_CI else promoted_from in known


def next_schedule_start(
    record: StartRecord | None,
    digest: str,
    *,
    now: datetime,
    repair_after: timedelta,
    pull_request_reason: Callable[[], str],
) -> tuple[Repair, str] | None:
    """Return the start of schedule that poll makes, and its reason; None for no start.

    `record` is the latest record of schedule, and `digest` that of the present inputs.
    `pull_request_reason` returns why our pull request needs schedule, or ""; it is called only if
    schedule has computed everything for these inputs.
    """
    repair = schedule_due(record, digest, now=now, repair_after=repair_after)
    if repair:
        if record is not None and record.kind == "starting":
            return repair, LOST
        is_same = record is not None and record.subject == digest
        return repair, OVER if is_same else CHANGED
    if record is not None and record.kind == "scheduled":
        reason = pull_request_reason()
        return (Repair(1), reason) if reason else None
    return None


def may_repeat_checks(scheduled: StartRecord | None, *, has_open_pull_request: bool) -> bool:
    """Return whether poll repeats starts of check-promote; it does not while people have to act.

    `scheduled` is the latest record of schedule.
    """
    is_blocked = scheduled is not None and scheduled.kind == "blocked"
    return not (has_open_pull_request or is_blocked)


def next_check_attempt(
    latest: CommitStatus | None,
    record: StartRecord | None,
    gitops_commit: str,
    *,
    has_changed: Callable[[str], bool],
) -> int:
    """Return the attempt with which schedule starts check-promote for a merge; 0 for no start.

    `latest` is the promoted commit's status for the environment, `record` the last start of
    check-promote. Before a run begins to check a merge, its start may be lost, or the run may have
    refused the merge because the environment did not name the commit yet. After a failure, a later
    merge is a correction: then the record names an earlier commit. `has_changed` returns whether
    the manifests differ from those of another GitOps commit; it is called only if the record names
    one.
    """
    is_same = record is not None and record.subject == gitops_commit
    if statuses.is_before_merge(latest):
        is_lost = record is None or not is_same or record.kind in {"starting", "refused"}
    else:
        is_lost = statuses.has_failed(latest) and record is not None and not is_same
    if not is_lost or not (record is None or is_same or has_changed(record.subject)):
        return 0
    made = record.attempt if record and is_same else 0
    return made + 1 if made < MOST_ATTEMPTS else 0


def forces_schedule(action: str, promoted_from: str) -> bool:
    """Whether cd starts schedule with force.

    A person who promotes the present commit again wants its manifests, even if somebody removed
    them.
    """
    return action == "unchanged" and not promoted_from


def cd_start(
    control_plane: str,
    workflow: str,
    *,
    environment: str,
    promoted_commit: str,
    promoted_from: str,
    attempt: int = 1,
) -> StartWorkflow:
    """Return the start of cd, with its record and `Waiting: cd` on the promoted commit."""
    record = starting(promoted_from, attempt)
    return StartWorkflow(
        control_plane,
        workflow,
        {
            "promoted_commit_id": promoted_commit,
            "environment": environment,
            "promoted_from": promoted_from,
        },
        record_of(control_plane, promoted_commit, cd_context(environment), record),
        shown=PostStatus(
            control_plane,
            promoted_commit,
            statuses.awaits_cd(environment),
            is_record=True,
            if_absent=True,
        ),
    )


def check_promote_start(
    control_plane: str,
    workflow: str,
    *,
    environment: str,
    promoted_commit: str,
    gitops_commit: str | NewCommit,
    repository: str,
    started_at: str = "",
    attempt: int = 1,
    ref: str = "",
) -> StartWorkflow:
    """Return the start of check-promote, with its record on the promoted commit.

    Without a `promoted_commit`, there is no record: the run finds out whether it promotes one.
    `repository` is the GitOps repository as owner/name, `ref` the branch of the workflow file.
    """
    start = (check_promote_context(environment, repository), attempt)
    status = (
        _starting(start, gitops_commit)
        if isinstance(gitops_commit, str)
        else Later(_starting, start, gitops_commit, _starting(start, str(gitops_commit)))
    )
    record = PostStatus(
        repository=control_plane, commit=promoted_commit, status=status, is_record=True
    )
    return StartWorkflow(
        control_plane,
        workflow,
        {
            "environment": environment,
            "promoted_commit_id": promoted_commit,
            "commit_id": gitops_commit,
            "gitops_repository": repository,
            "started_at": started_at,
        },
        record if promoted_commit else None,
        ref=ref,
    )


def deploy_start(
    source: str,
    workflow: str,
    *,
    environment: str,
    commit: str,
    origin: str,
    attempt: int = 1,
) -> StartWorkflow:
    """Return the start of an application's deploy, with its record on the source commit.

    The record brings the commit to the environment: the workflow takes the commit as a hint.
    `origin` is the environment before, or `ci`.
    """
    record = starting(origin, attempt)
    return StartWorkflow(
        source,
        workflow,
        {"environment": environment, "commit_id": commit},
        record_of(source, commit, deploy_context(environment), record),
    )


def check_start(
    source: str,
    workflow: str,
    *,
    environment: str,
    commit: str,
    gitops_commit: str | NewCommit,
    attempt: int = 1,
) -> StartWorkflow:
    """Return the start of an application's check of a merge, with its record on `commit`.

    This is the source commit that the GitOps commit tracks.
    """
    start = (check_context(environment), attempt)
    status = (
        _starting(start, gitops_commit)
        if isinstance(gitops_commit, str)
        else Later(_starting, start, gitops_commit, _starting(start, str(gitops_commit)))
    )
    return StartWorkflow(
        source,
        workflow,
        {
            "environment": environment,
            "promoted_commit_id": commit,
            "commit_id": gitops_commit,
        },
        PostStatus(repository=source, commit=commit, status=status, is_record=True),
    )


def schedule_start(
    control_plane: str,
    workflow: str,
    *,
    environment: str,
    environment_commit: str | NewCommit,
    digest: str = UNREAD,
    attempt: int = 1,
    force: bool = False,
) -> StartWorkflow:
    """Return the start of schedule, with its record on the environment branch's head.

    `digest` is that of the inputs, if the caller knows it. A recorded start with `force` whose run
    has not begun passes `force` on: GitHub cancels a waiting run of schedule for a newer one.
    """
    record = starting(digest, attempt, force=force)
    return StartWorkflow(
        control_plane,
        workflow,
        {"environment": environment, "force": "true" if force else ""},
        record_of(control_plane, environment_commit, schedule_context(environment), record),
        keeps_force=not force,
    )


def record_of(
    control_plane: str,
    commit: str | NewCommit,
    context: str,
    record: StartRecord,
) -> PostStatus:
    """Return the write of a record on a commit."""
    return PostStatus(
        repository=control_plane,
        commit=commit,
        status=record.status(context),
        is_record=True,
    )


def _starting(start: tuple[str, int], subject: str) -> CommitStatus:
    context, attempt = start
    return starting(subject, attempt).status(context)
