"""Pull requests."""

from __future__ import annotations

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.mergeability import check_mergeability
from kalypso_sandbox.github.payloads import accounts, issues, repositories
from kalypso_sandbox.github.payloads.view import View, node_id, optional_timestamp, timestamp
from kalypso_sandbox.store import Issue, PullRequest, Repository


def simple(view: View, repository: Repository, issue: Issue, pull_request: PullRequest) -> Json:
    """Return GitHub's `pull-request-simple`, as in lists."""
    links = _links(view, repository, issue, pull_request)
    head = view.store.repository(pull_request.head_repository)
    return {
        **{f"{name}_url": url for name, url in links.items() if name not in {"self", "html"}},
        "url": links["self"],
        "html_url": links["html"],
        "diff_url": f"{links['html']}.diff",
        "patch_url": f"{links['html']}.patch",
        "id": issue.id,
        "node_id": node_id("PullRequest", issue.id),
        "number": issue.number,
        "state": issue.state,
        "locked": False,
        "active_lock_reason": None,
        "title": issue.title,
        "user": accounts.simple(view, issue.author),
        "body": issue.body,
        "labels": issues.labels(view, repository, issue),
        "milestone": None,
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": optional_timestamp(issue.closed_at),
        "merged_at": optional_timestamp(pull_request.merged_at),
        "merge_commit_sha": pull_request.merge_commit or None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _branch(view, head, pull_request.head_branch, view.head(pull_request)),
        "base": _branch(view, repository, pull_request.base_branch, pull_request.base_commit),
        "_links": {name: {"href": url} for name, url in links.items()},
        "author_association": accounts.association(view, repository, issue.author),
        "auto_merge": _auto_merge(view, pull_request),
        "draft": pull_request.draft,
    }


def full(view: View, repository: Repository, issue: Issue, pull_request: PullRequest) -> Json:
    """Return GitHub's `pull-request`, with its mergeability and the size of its changes."""
    git = view.store.git(repository)
    merge = check_mergeability(view.store, repository, issue, pull_request)
    head = pull_request.head_commit
    fork = git.merge_base(pull_request.base_commit, head)
    changes = git.diff(fork, head)
    return {
        **simple(view, repository, issue, pull_request),
        "merged": pull_request.merged_at is not None,
        "mergeable": merge.mergeable,
        "rebaseable": merge.mergeable,
        "mergeable_state": merge.state,
        "merged_by": accounts.optional(view, pull_request.merged_by),
        "comments": len(issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(git.commits_between(pull_request.base_commit, head)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def _auto_merge(view: View, pull_request: PullRequest) -> Json:
    auto_merge = pull_request.auto_merge
    if auto_merge is None:
        return None
    return {
        "enabled_by": accounts.simple(view, auto_merge.identity.login),
        "merge_method": auto_merge.method,
        "commit_title": "",
        "commit_message": "",
    }


def _links(
    view: View, repository: Repository, issue: Issue, pull_request: PullRequest
) -> dict[str, str]:
    url = f"{view.api(repository)}/pulls/{issue.number}"
    of_issue = f"{view.api(repository)}/issues/{issue.number}"
    return {
        "self": url,
        "html": f"{view.html(repository)}/pull/{issue.number}",
        "issue": of_issue,
        "comments": f"{of_issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{view.api(repository)}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{view.api(repository)}/statuses/{pull_request.head_commit}",
    }


def _branch(view: View, repository: Repository | None, branch: str, commit: str) -> Json:
    """Return the head or base of a pull request; the repository of a head may be deleted."""
    if repository is None:
        return {"label": branch, "ref": branch, "sha": commit, "user": None, "repo": None}
    return {
        "label": f"{repository.owner}:{branch}",
        "ref": branch,
        "sha": commit,
        "user": accounts.simple(view, repository.owner),
        "repo": repositories.simple(view, repository),
    }
