"""The changes of state that the table allows, and the rules of stories that cause each event.

The commands cause the other events, in the rules that run workflows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kalypso_actions.promotion.statuses import ENDS, State
from tools.reference.lifecycle import TRANSITIONS, Actor, Event

COMMANDS: Final = frozenset(Actor) - {Actor.PEOPLE, Actor.CLUSTERS, Actor.GITHUB}

OUTSIDE: Final = frozenset(event for event in Event if event.actor not in COMMANDS)
"""The events that people, clusters and GitHub cause."""

PLAYED: Final[dict[Event, frozenset[str]]] = {
    Event.COMMIT_COMES: frozenset({"merge_to_main"}),
    Event.APPROVED: frozenset({"decide"}),
    Event.REFUSED: frozenset({"decide"}),
    Event.CD_STARTED_BY_HAND: frozenset({"start_cd"}),
    Event.CD_PULL_REQUEST_MERGED: frozenset({"merge_pull_request", "meddle"}),
    Event.CD_PULL_REQUEST_CLOSED: frozenset({"merge_pull_request"}),  # a conflicting one
    Event.BASE_NAMES_IT: frozenset({"write_base_repo"}),
    Event.BASE_NAMES_NEWER: frozenset({"write_base_repo", "merge_pull_request"}),
    Event.BASE_GOES_BACK: frozenset({"write_base_repo", "meddle"}),
    Event.INPUTS_CHANGE: frozenset({"configure", "register"}),
    Event.SCHEDULE_STARTED_BY_HAND: frozenset({"start_schedule"}),
    Event.PULL_REQUEST_MERGED: frozenset({"merge_pull_request", "meddle"}),
    Event.PULL_REQUEST_CLOSED: frozenset({"close_pull_request"}),
    Event.PULL_REQUEST_CONFLICTS: frozenset({"meddle"}),  # a merge in the middle of schedule
    Event.MERGE_REVERTED: frozenset({"revert", "meddle"}),
    Event.TRACKING_WRITTEN: frozenset({"write_tracking"}),
    Event.CLUSTERS_COMPLY: frozenset({"cluster"}),
    Event.CLUSTERS_FAIL: frozenset({"cluster"}),
    Event.CLUSTERS_TIME_OUT: frozenset({"slow_cluster"}),
    Event.START_LOST: frozenset({"run"}),
    Event.RUN_KILLED: frozenset({"kill"}),
    Event.RUN_ENDS: frozenset({"disturb"}),
    Event.RUN_REPEATED: frozenset({"run_again"}),
    Event.POLL_DUE: frozenset({"start_poll"}),
}

WITHOUT_EVENT: Final = {
    "run_everything": "runs what waits",
    "run_at_once": "runs what waits",
    "wait": "lets time pass",
    "require_approval": "lets jobs wait for `decide`",
    "follow_elsewhere": "adds a cluster that must change nothing",
    "delete_cluster": "leaves the row of a deleted cluster, which must change nothing",
}
"""Rules that cause no event of the table, and their effect."""


def allowed(before: State, after: State, actors: Collection[Actor]) -> bool:
    """Return whether these actors, in any number of steps, may bring a commit to another state.

    A run that ends in one of `ENDS` makes no further step.
    """
    reached = [before]
    for state in reached:
        if state in ENDS and state is not before:
            continue
        for transition in TRANSITIONS:
            if state in transition.before and transition.actor in actors:
                reached += [new for new in transition.after if new not in reached]
    return after in reached
