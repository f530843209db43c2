"""The events of an issue, which its timeline shows.

Who deletes the head branch of an open pull request closes it: `closed` comes before
`head_ref_deleted`, with the same actor and time. A merge is `merged`, then `closed`.
https://docs.github.com/rest/using-the-rest-api/issue-event-types
"""

from __future__ import annotations

from typing import Any

from kalypso_actions.sandbox.store import Identity, Issue, IssueEvent, Store


def record(store: Store, issue: Issue, event: str, identity: Identity, **more: Any) -> None:
    """Add an event of this kind; `more` are the fields that this kind has besides."""
    fields = {
        "id": store.new_id(),
        "event": event,
        "actor": identity.login,
        "created_at": store.now,
        **more,
    }
    issue.events.append(IssueEvent.model_validate(fields))


def head_is_deleted(issue: Issue) -> bool:
    """Return whether the head branch was deleted and is not restored."""
    kinds = [one.event for one in issue.events if one.event.startswith("head_ref_")]
    return kinds[-1:] == ["head_ref_deleted"]
