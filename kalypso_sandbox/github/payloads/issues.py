"""Issues, their labels and their comments."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.payloads.view import View, node_id, optional_timestamp, timestamp
from kalypso_sandbox.store import Comment, Issue, IssueEvent, Label, Repository

REACTIONS: Final = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label(view: View, repository: Repository, label: Label) -> Json:
    """Return GitHub's `label`."""
    return {
        "id": label.id,
        "node_id": node_id("Label", label.id),
        "url": f"{view.api(repository)}/labels/{quote(label.name, safe='')}",
        "name": label.name,
        "color": label.color,
        "default": False,
        "description": label.description,
    }


def labels(view: View, repository: Repository, issue: Issue) -> list[Json]:
    """Return the labels of an issue."""
    return [label(view, repository, repository.labels[key]) for key in issue.labels]


def issue(view: View, repository: Repository, issue: Issue) -> Json:
    """Return GitHub's `issue`; a pull request is also an issue."""
    url = f"{view.api(repository)}/issues/{issue.number}"
    kind = "pull" if issue.pull_request else "issues"
    answer = {
        "url": url,
        "repository_url": view.api(repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{view.html(repository)}/{kind}/{issue.number}",
        "id": issue.id,
        "node_id": node_id("PullRequest" if issue.pull_request else "Issue", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": accounts.simple(view, issue.author),
        "labels": labels(view, repository, issue),
        "state": issue.state,
        "state_reason": issue.state_reason,
        "locked": False,
        "active_lock_reason": None,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(issue.comments),
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": optional_timestamp(issue.closed_at),
        "closed_by": accounts.optional(view, issue.closed_by),
        "author_association": accounts.association(view, repository, issue.author),
        "body": issue.body,
        "reactions": _reactions(url),
        "performed_via_github_app": None,
    }
    if issue.pull_request is None:
        return answer
    page = answer["html_url"]
    return {
        **answer,
        "draft": issue.pull_request.draft,
        "pull_request": {
            "url": f"{view.api(repository)}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": optional_timestamp(issue.pull_request.merged_at),
        },
    }


def comment(view: View, repository: Repository, issue: Issue, comment: Comment) -> Json:
    """Return GitHub's `issue-comment`."""
    url = f"{view.api(repository)}/issues"
    kind = "pull" if issue.pull_request else "issues"
    page = f"{view.html(repository)}/{kind}/{issue.number}"
    return {
        "url": f"{url}/comments/{comment.id}",
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": f"{url}/{issue.number}",
        "id": comment.id,
        "node_id": node_id("IssueComment", comment.id),
        "user": accounts.simple(view, comment.author),
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "author_association": accounts.association(view, repository, comment.author),
        "body": comment.body,
        "reactions": _reactions(f"{url}/comments/{comment.id}"),
        "performed_via_github_app": None,
    }


def event(view: View, repository: Repository, event: IssueEvent) -> Json:
    """Return GitHub's `issue-event-for-issue`."""
    url = f"{view.api(repository)}/issues/events/{event.id}"
    answer = {
        "id": event.id,
        "node_id": node_id("IssueEvent", event.id),
        "url": url,
        "actor": accounts.simple(view, event.actor),
        "event": event.event,
        "commit_id": event.commit,
        "commit_url": f"{view.api(repository)}/commits/{event.commit}" if event.commit else None,
        "created_at": timestamp(event.created_at),
        "performed_via_github_app": None,
    }
    if event.label:
        answer["label"] = dict(zip(("name", "color"), event.label, strict=True))
    if event.renamed:
        answer["rename"] = dict(zip(("from", "to"), event.renamed, strict=True))
    return answer


def _reactions(url: str) -> Json:
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}
