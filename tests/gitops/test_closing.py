"""Who closed a pull request, by GitHub's events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.gitops import closed_by_people
from kalypso_actions.model.github import IssueEvent

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(name: str, second: float = 0, actor: str = "ada", by_bot: bool = False) -> IssueEvent:
    return IssueEvent(name, actor, by_bot, NOON + timedelta(seconds=second))


CLOSED, DELETED = event("closed"), event("head_ref_deleted")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("labeled"), CLOSED], True),
        ([event("closed", by_bot=True)], False),
        # A bot closed it before, and a person in the end; and the other way round.
        ([event("closed", by_bot=True), event("reopened"), event("closed", 60)], True),
        ([CLOSED, event("reopened", 30), event("closed", 60, by_bot=True)], False),
        # The deletion of the branch closes it: GitHub tells it in either order.
        ([DELETED, event("closed", 5)], False),
        ([CLOSED, DELETED], False),
        ([CLOSED, event("head_ref_deleted", 2)], False),
        # Closed, and cleaned up later, or by somebody else.
        ([CLOSED, event("head_ref_deleted", 3)], True),
        ([CLOSED, event("head_ref_deleted", 1, "cleaner")], True),
        # Deleted once, restored, and closed.
        ([DELETED, event("head_ref_restored", 60), event("closed", 90)], True),
        ([], True),
    ],
)
def test_whose_verdict_it_is(events: list[IssueEvent], expected: bool) -> None:
    assert closed_by_people(events) == expected
