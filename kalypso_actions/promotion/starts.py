"""The workflows that a command starts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.lost_starts import MOST_ATTEMPTS, Repair, is_lost_check
from kalypso_actions.promotion.schedule_runs import schedule_due
from kalypso_actions.promotion.start_records import StartRecord

LOST: Final = "the last start was lost"
CHANGED: Final = "the inputs have changed"
OVER: Final = "a toleration or a score of a Placement is over"


def starts_cd(option: Literal["auto", "true", "false"], *, is_push_to_main: bool) -> bool:
    """Return whether ci starts cd; by default, it does for a push to main (`is_push_to_main`)."""
    return option == "true" or (option == "auto" and is_push_to_main)


def may_start_cd(
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
    check-promote. `has_changed` returns whether the manifests differ from those of another GitOps
    commit; it is called only if the record names one.
    """
    is_same = record is not None and record.subject == gitops_commit
    is_lost = is_lost_check(
        latest,
        record,
        gitops_commit,
        is_before_merge=statuses.is_before_merge(latest),
        has_failed=statuses.has_failed(latest),
    )
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
