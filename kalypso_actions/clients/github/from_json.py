"""Convert GitHub's JSON to values of the model."""

from __future__ import annotations

from datetime import datetime

from kalypso_actions.clients.github.messages import Json
from kalypso_actions.model.github import Comment, Issue, IssueEvent, PullRequest


def pull_request(answer: Json) -> PullRequest:
    """Convert a pull request, which may be an item of a list.

    Lists lack `merged`, but have `merged_at`. The head of a deleted fork has no repository.
    """
    merged = answer["merged_at"] is not None
    return PullRequest(
        number=answer["number"],
        url=answer["html_url"],
        title=answer["title"],
        body=answer["body"] or "",
        state=answer["state"],
        merged=merged,
        merge_commit=(answer["merge_commit_sha"] or "") if merged else "",
        head_repository=_full_name(answer["head"]),
        head_branch=answer["head"]["ref"],
        head_commit=answer["head"]["sha"],
        base_branch=answer["base"]["ref"],
        labels=_labels(answer),
        author=_author(answer),
        mergeable=answer.get("mergeable"),
        merge_state=answer.get("mergeable_state", ""),
        node_id=answer["node_id"],
        auto_merge_by=_auto_merge_by(answer.get("auto_merge")),
    )


def _auto_merge_by(auto_merge: Json) -> str:
    """Return the login that enabled auto-merge; "ghost" for a deleted account, "" if it is off."""
    if auto_merge is None:
        return ""
    return str((auto_merge["enabled_by"] or {"login": "ghost"})["login"])


def in_own_repository(answer: Json) -> bool:
    """Whether a pull request's head is in the repository of its base, not in a fork."""
    head = answer["head"]["repo"]
    return head is not None and head["id"] == answer["base"]["repo"]["id"]


def issue(answer: Json) -> Issue:
    """Convert an issue."""
    return Issue(
        number=answer["number"],
        url=answer["html_url"],
        title=answer["title"],
        body=answer["body"] or "",
        state=answer["state"],
        labels=_labels(answer),
        author=_author(answer),
    )


def issue_event(answer: Json) -> IssueEvent:
    """Convert an issue's event; the actor of a deleted account is null."""
    actor = answer["actor"] or {"login": "", "type": "User"}
    return IssueEvent(
        name=answer["event"],
        actor=actor["login"],
        by_bot=actor["type"] == "Bot",
        date=datetime.fromisoformat(answer["created_at"]),
    )


def is_pull_request(answer: Json) -> bool:
    """Whether an item of a list of issues is a pull request."""
    return answer.get("pull_request") is not None


def comment(answer: Json) -> Comment:
    """Convert a comment on an issue or a pull request."""
    return Comment(
        id=answer["id"],
        url=answer["html_url"],
        body=answer["body"] or "",
        author=_author(answer),
    )


def _full_name(ref: Json) -> str:
    return "" if ref["repo"] is None else str(ref["repo"]["full_name"])


def _labels(answer: Json) -> tuple[str, ...]:
    """Return the names of labels; an issue may have a label as plain text."""
    return tuple(
        label if isinstance(label, str) else str(label["name"]) for label in answer["labels"]
    )


def _author(answer: Json) -> str:
    """Return the login; "" for a deleted account."""
    return "" if answer["user"] is None else str(answer["user"]["login"])
