"""Decide from a start record whether the start was lost, and whether poll repeats it.

`start_records` has the form of the records; `starts` decides which starts a command makes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.start_records import Command, StartRecord

MOST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Repair:
    """The decision of poll: start with this attempt, or give up (`attempt` 0)."""

    attempt: int
    force: bool = False


def overdue(record: StartRecord, *, now: datetime, repair_after: timedelta) -> Repair | None:
    """Return the repair of a recorded start; None while a run may still begin.

    The caller makes sure that no run of this start is in progress.
    """
    if record.kind != "starting":
        return None
    if record.since is not None and now - record.since < repair_after:
        return None
    attempt = record.attempt + 1 if record.attempt < MOST_ATTEMPTS else 0
    return Repair(attempt, record.force)


TITLES: Final[dict[Command, re.Pattern[str]]] = {
    "cd": re.compile(r"(?P<commit>[0-9a-f]{40,64}) to (?P<environment>\S+)"),
    "check-promote": re.compile(
        r"Check (?P<environment>\S+) with (?P<commit>[0-9a-f]{40,64})(?: (?P<repository>\S+))?"
    ),
    "schedule": re.compile(r"Schedule (?P<environment>\S+)"),
}
"""The `run-name` of the workflow templates, by the command that they run."""


def may_be_run_of(title: str, command: Command, facts: Mapping[str, str]) -> bool:
    """Return whether a run of this title may come from the start that `facts` describe.

    A title of another form, from a workflow file that people changed, may come from any start.
    """
    match = TITLES[command].fullmatch(title.strip())
    if match is None:
        return True
    title_facts = {name: value.lower() for name, value in match.groupdict().items() if value}
    return all(
        title_facts.get(name, value.lower()) == value.lower() for name, value in facts.items()
    )


def is_lost_check(
    latest: CommitStatus | None,
    record: StartRecord | None,
    gitops_commit: str,
    *,
    is_before_merge: bool,
    has_failed: bool,
) -> bool:
    """Return whether check-promote may not know of the merged `gitops_commit`.

    `latest` is the promoted commit's status for the environment. Before a run of check-promote
    begins to check a merge, its start may be lost, or the run may have refused the merge because
    the environment did not name the commit yet. After a failure, a later merge is a correction:
    then the record names an earlier commit.
    """
    if latest is None:
        return False
    is_recorded = record is not None and record.subject == gitops_commit
    if is_before_merge:
        return not is_recorded or (record is not None and record.kind in {"starting", "refused"})
    return has_failed and record is not None and not is_recorded
