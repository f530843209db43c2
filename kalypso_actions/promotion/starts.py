"""Which starts of workflows a command makes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.start_records import MOST_ATTEMPTS, StartRecord, is_lost_check


def starts_cd(option: Literal["auto", "true", "false"], *, is_push_to_main: bool) -> bool:
    """Return whether ci starts cd; a push to main, `is_push_to_main`, starts it by default."""
    return option == "true" or (option == "auto" and is_push_to_main)


def may_start_cd(
    environment: str, promoted_from: str, *, first: Collection[str], known: Collection[str]
) -> bool:
    """Return whether poll repeats a recorded start of cd: anyone who posts statuses can write one.

    ci starts cd for the `first` environments only; otherwise the commit comes from one of the
    `known` environments. cd itself checks that this environment has the commit.
    """
    return environment in first if promoted_from == FROM_CI else promoted_from in known


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

    A person who promotes the present commit again wants its manifests, even if people removed them.
    """
    return action == "unchanged" and not promoted_from
