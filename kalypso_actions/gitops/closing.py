"""Whether people have closed a pull request, by its events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from kalypso_actions.model.github import IssueEvent

AT_ONCE: Final = timedelta(seconds=2)
"""GitHub tells the closing and the deletion that caused it in either order, at about one time.

Somebody who closes a pull request and deletes its branch by a second click takes longer.
"""


def closed_by_people(events: Sequence[IssueEvent]) -> bool:
    """Whether the last closing of a pull request is a verdict; `events` are oldest first.

    The closing by a bot is none, nor is the deletion of the branch, which closes it as well.
    https://docs.github.com/rest/using-the-rest-api/issue-event-types
    """
    places = [place for place, event in enumerate(events) if event.name == "closed"]
    if not places:
        return True
    closing = events[places[-1]]
    return not (
        closing.by_bot or _deleted_before(events[: places[-1]]) or _deletes(closing, events)
    )


def _deleted_before(events: Sequence[IssueEvent]) -> bool:
    """Whether the branch is gone after these events."""
    names = [one.name for one in events if one.name in {"head_ref_deleted", "head_ref_restored"}]
    return names[-1:] == ["head_ref_deleted"]


def _deletes(closing: IssueEvent, events: Sequence[IssueEvent]) -> bool:
    return any(
        event.name == "head_ref_deleted"
        and event.actor == closing.actor
        and abs(event.date - closing.date) <= AT_ONCE
        for event in events
    )
