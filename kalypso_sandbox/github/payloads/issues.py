"""Issues with their labels and comments; pull requests with their reviews."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.github.branch_rules import check_mergeability
from kalypso_sandbox.github.payloads.accounts import (
    association,
    node_id,
    optional_timestamp,
    optional_user,
    simple_repository,
    timestamp,
    user,
)
from kalypso_sandbox.json_http import Json
from kalypso_sandbox.store import Comment, Issue, IssueEvent, Label, PullRequest, Repository

REACTIONS: Final = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label(access: RepositoryAccess, label: Label) -> Json:
    """Return GitHub's `label`."""
    return {
        "id": label.id,
        "node_id": node_id("Label", label.id),
        "url": f"{access.url}/labels/{quote(label.name, safe='')}",
        "name": label.name,
        "color": label.color,
        "default": False,
        "description": label.description,
    }


def labels(access: RepositoryAccess, issue: Issue) -> list[Json]:
    """Return the labels of an issue."""
    return [label(access, access.repository.labels[key]) for key in issue.labels]


def issue(access: RepositoryAccess, issue: Issue) -> Json:
    """Return GitHub's `issue`; a pull request is also an issue."""
    url = f"{access.url}/issues/{issue.number}"
    kind = "pull" if issue.pull_request else "issues"
    answer = {
        **_shared(access, issue),
        "url": url,
        "repository_url": access.url,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{access.page}/{kind}/{issue.number}",
        "state_reason": issue.state_reason,
        "comments": len(issue.comments),
        "closed_by": optional_user(access, issue.closed_by),
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
            "url": f"{access.url}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": optional_timestamp(issue.pull_request.merged_at),
        },
    }


def comment(access: RepositoryAccess, issue: Issue, comment: Comment) -> Json:
    """Return GitHub's `issue-comment`."""
    url = f"{access.url}/issues"
    kind = "pull" if issue.pull_request else "issues"
    page = f"{access.page}/{kind}/{issue.number}"
    return {
        "url": f"{url}/comments/{comment.id}",
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": f"{url}/{issue.number}",
        "id": comment.id,
        "node_id": node_id("IssueComment", comment.id),
        "user": user(access, comment.author),
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "author_association": association(access, comment.author),
        "body": comment.body,
        "reactions": _reactions(f"{url}/comments/{comment.id}"),
        "performed_via_github_app": None,
    }


def event(access: RepositoryAccess, event: IssueEvent) -> Json:
    """Return GitHub's `issue-event-for-issue`."""
    url = f"{access.url}/issues/events/{event.id}"
    answer = {
        "id": event.id,
        "node_id": node_id("IssueEvent", event.id),
        "url": url,
        "actor": user(access, event.actor),
        "event": event.event,
        "commit_id": event.commit,
        "commit_url": f"{access.url}/commits/{event.commit}" if event.commit else None,
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


def pull_request(access: RepositoryAccess, issue: Issue) -> Json:
    """Return GitHub's `pull-request-simple`, as in lists."""
    pull, links = issue.pull, _links(access, issue)
    head = access.store.repository(pull.head_repository)
    return {
        **_shared(access, issue),
        **{f"{name}_url": url for name, url in links.items() if name not in {"self", "html"}},
        "url": links["self"],
        "html_url": links["html"],
        "diff_url": f"{links['html']}.diff",
        "patch_url": f"{links['html']}.patch",
        "merged_at": optional_timestamp(pull.merged_at),
        "merge_commit_sha": pull.merge_commit or None,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _branch(access, head, pull.head_branch, access.head(pull)),
        "base": _branch(access, access.repository, pull.base_branch, pull.base_commit),
        "_links": {name: {"href": url} for name, url in links.items()},
        "auto_merge": _auto_merge(access, pull),
        "draft": pull.draft,
    }


def _shared(access: RepositoryAccess, issue: Issue) -> dict[str, Json]:
    """Return the fields that issues and pull requests share."""
    return {
        "id": issue.id,
        "node_id": node_id("PullRequest" if issue.pull_request else "Issue", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": user(access, issue.author),
        "labels": labels(access, issue),
        "state": issue.state,
        "locked": False,
        "active_lock_reason": None,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": optional_timestamp(issue.closed_at),
        "author_association": association(access, issue.author),
        "body": issue.body,
    }


def full_pull_request(access: RepositoryAccess, issue: Issue) -> Json:
    """Return GitHub's `pull-request`, with its mergeability and the size of its changes."""
    git, pull = access.git, issue.pull
    merge = check_mergeability(access, issue)
    changes = git.diff(git.merge_base(pull.base_commit, pull.head_commit), pull.head_commit)
    return {
        **pull_request(access, issue),
        "merged": pull.merged_at is not None,
        "mergeable": merge.mergeable,
        "rebaseable": merge.mergeable,
        "mergeable_state": merge.state,
        "merged_by": optional_user(access, pull.merged_by),
        "comments": len(issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(git.commits_between(pull.base_commit, pull.head_commit)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def _auto_merge(access: RepositoryAccess, pull: PullRequest) -> Json:
    if pull.auto_merge is None:
        return None
    return {
        "enabled_by": user(access, pull.auto_merge.identity.login),
        "merge_method": pull.auto_merge.method,
        "commit_title": "",
        "commit_message": "",
    }


def _links(access: RepositoryAccess, issue: Issue) -> dict[str, str]:
    url = f"{access.url}/pulls/{issue.number}"
    of_issue = f"{access.url}/issues/{issue.number}"
    return {
        "self": url,
        "html": f"{access.page}/pull/{issue.number}",
        "issue": of_issue,
        "comments": f"{of_issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{access.url}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{access.url}/statuses/{issue.pull.head_commit}",
    }


def _branch(
    access: RepositoryAccess, repository: Repository | None, branch: str, commit: str
) -> Json:
    """Return the head or base of a pull request; the repository of a head may be deleted."""
    if repository is None:
        return {"label": branch, "ref": branch, "sha": commit, "user": None, "repo": None}
    return {
        "label": f"{repository.owner}:{branch}",
        "ref": branch,
        "sha": commit,
        "user": user(access, repository.owner),
        "repo": simple_repository(access.at(repository)),
    }
