"""GitHub's JSON as the values of our model."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kalypso_actions.model.github import Comment, CommitStatus, Issue, IssueEvent, PullRequest

Json = Any


def pull_request(answer: Json) -> PullRequest:
    """Of a pull request in a list, alone, or of a commit.

    Lists do not say `merged`, but when. The repository of a head is gone with a deleted fork.
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
    )


def in_own_repository(answer: Json) -> bool:
    """Whether a pull request's head lies in the repository of its base, and not in a fork."""
    head = answer["head"]["repo"]
    return head is not None and head["id"] == answer["base"]["repo"]["id"]


def issue(answer: Json) -> Issue:
    """Of an issue in a list or alone."""
    return Issue(
        number=answer["number"],
        url=answer["html_url"],
        title=answer["title"],
        body=answer["body"] or "",
        state=answer["state"],
        labels=_labels(answer),
    )


def issue_event(answer: Json) -> IssueEvent:
    """Of an event in the list of an issue; the actor is null where the account is gone."""
    actor = answer["actor"] or {"login": "", "type": "User"}
    return IssueEvent(
        name=answer["event"],
        actor=actor["login"],
        by_bot=actor["type"] == "Bot",
        date=datetime.fromisoformat(answer["created_at"]),
    )


def is_pull_request(answer: Json) -> bool:
    """GitHub lists pull requests among the issues."""
    return answer.get("pull_request") is not None


def comment(answer: Json) -> Comment:
    """Of a comment on an issue or a pull request."""
    return Comment(
        id=answer["id"],
        url=answer["html_url"],
        body=answer["body"] or "",
        author=_author(answer),
    )


def commit_status(answer: Json) -> CommitStatus:
    """Of a status in a list; what was not given is null."""
    return CommitStatus(
        context=answer["context"],
        state=answer["state"],
        description=answer["description"] or "",
        target_url=answer["target_url"] or "",
        created_at=datetime.fromisoformat(answer["created_at"]),
    )


def _full_name(end: Json) -> str:
    return "" if end["repo"] is None else str(end["repo"]["full_name"])


def _labels(answer: Json) -> tuple[str, ...]:
    """Issues may hold a label as a text alone."""
    return tuple(
        label if isinstance(label, str) else str(label["name"]) for label in answer["labels"]
    )


def _author(answer: Json) -> str:
    """The login; nothing where the account is gone."""
    return "" if answer["user"] is None else str(answer["user"]["login"])
