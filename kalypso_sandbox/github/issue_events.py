"""The events in an issue's timeline.

Deleting the head branch of an open pull request closes it: `closed` precedes `head_ref_deleted`,
with the same actor and time. A merge records `merged`, then `closed`.

https://docs.github.com/rest/using-the-rest-api/issue-event-types
"""

from __future__ import annotations

from typing import Any

from kalypso_sandbox.store import Identity, Issue, IssueEvent, Store


def record(store: Store, issue: Issue, event: str, identity: Identity, **more: Any) -> None:
    """Record an event; `more` are the additional fields of this kind."""
    fields = {
        "id": store.new_id(),
        "event": event,
        "actor": identity.login,
        "created_at": store.now,
        **more,
    }
    issue.events.append(IssueEvent.model_validate(fields))


def head_is_deleted(issue: Issue) -> bool:
    """Return whether the head branch is deleted."""
    kinds = [event.event for event in issue.events if event.event.startswith("head_ref_")]
    return kinds[-1:] == ["head_ref_deleted"]
