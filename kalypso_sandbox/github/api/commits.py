"""Commits, comparisons, and the pull requests of commits.

https://docs.github.com/rest/commits
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.github.api import lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import PageRequest, paginate
from kalypso_sandbox.github.payloads import commits, pull_requests
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import PullRequest

MAX_FILES: Final = 300
MAX_COMMITS: Final = 250
"""The number of last commits that a comparison returns if the request names no page."""


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/git/commits/{commit_sha}",
    "contents: read",
    statuses=(200, 404, 409),
)
def read_git_commit(call: Call) -> Answer:
    """Return git's fields of a commit."""
    commit = lookups.commit(call, call.parameters["commit_sha"])
    return Answer(200, commits.git_commit(View.of(call), call.named_repository, commit))


@endpoint("GET", "/repos/{owner}/{repo}/commits/{ref}", "contents: read", statuses=(200, 409, 422))
def read(call: Call) -> Answer:
    """Return a commit with the files that it changes against its first parent."""
    view, repository = View.of(call), call.named_repository
    commit = lookups.commit(call, call.parameters["ref"], status=422)
    parent = commit.parents[0] if commit.parents else None
    changes = call.store.git(repository).diff(parent, commit.id)
    page_request = PageRequest.of(call.query, default=MAX_FILES, maximum=MAX_FILES)
    page, headers = paginate(call, changes, page_request)
    additions = sum(change.additions for change in changes)
    deletions = sum(change.deletions for change in changes)
    answer = {
        **commits.full(view, repository, commit),
        "stats": {
            "total": additions + deletions,
            "additions": additions,
            "deletions": deletions,
        },
        "files": [commits.changed_file(view, repository, change, commit.id) for change in page],
    }
    return Answer(200, answer, headers)


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    "pull_requests: read",
    statuses=(200, 409, 422),
)
def read_pull_requests(call: Call) -> Answer:
    """List a commit's merged pull requests, and open ones unless the default branch has the commit.

    For the name of a branch, list the pull requests of the branch.
    """
    view, repository = View.of(call), call.named_repository
    revision = call.parameters["commit_sha"]
    git = call.store.git(repository)
    commit = lookups.commit(call, revision, status=422).id
    default = git.head(repository.default_branch)
    merged_only = default is not None and git.is_ancestor(commit, default)
    answer = [
        pull_requests.simple(view, repository, issue, issue.pull_request)
        for issue in repository.issues.values()
        if issue.pull_request
        and (issue.pull_request.merged_at or (issue.state == "open" and not merged_only))
        and _contains(call, issue.pull_request, commit)
    ]
    page, headers = paginate(call, answer)
    return Answer(200, page, headers)


@endpoint("GET", "/repos/{owner}/{repo}/compare/{basehead}", "contents: read", statuses=(200, 404))
def compare(call: Call) -> Answer:
    """Compare head with base: commits in pages, changed files on the first page."""
    base, head = (_side(call, name) for name in _names(call))
    git = call.store.git(call.named_repository)
    fork = git.merge_base(base.id, head.id)
    if fork is None:
        raise RefusedError(404, f"No common ancestor between {base.id} and {head.id}.")
    ahead = git.commits_between(base.id, head.id)
    behind = git.commits_between(head.id, base.id)
    if "page" in call.query or "per_page" in call.query:
        page_request = PageRequest.of(call.query, default=MAX_COMMITS, maximum=MAX_COMMITS)
        page, headers = paginate(call, ahead, page_request)
    else:
        page_request, page, headers = PageRequest(1, MAX_COMMITS), ahead[-MAX_COMMITS:], {}
    answer = _comparison(call, base, head, git.commit(fork))
    answer |= {
        "status": _relation(ahead, behind),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commits.full(View.of(call), call.named_repository, commit) for commit in page],
        "files": _files(call, fork, head.id) if page_request.number == 1 else [],
    }
    return Answer(200, answer, headers)


def _contains(call: Call, pull_request: PullRequest, commit: str) -> bool:
    """Return whether a commit belongs to the pull request, or merged it."""
    if pull_request.merged_at and pull_request.merge_commit == commit:
        return True
    if pull_request.head_commit == commit:
        return True
    git = call.store.git(call.named_repository)
    if not git.is_ancestor(commit, pull_request.head_commit):
        return False
    return not git.is_ancestor(commit, pull_request.base_commit)


def _names(call: Call) -> Sequence[str]:
    names = call.parameters["basehead"].split("...")
    if len(names) != 2:
        raise lookups.not_found()
    return names


def _side(call: Call, name: str) -> GitCommit:
    """Return the commit of `revision` or `owner:revision`; there are no forks."""
    owner, colon, revision = name.rpartition(":")
    if colon and owner.lower() != call.named_repository.owner.lower():
        raise lookups.not_found()
    return lookups.known_commit(call, revision)


def _comparison(call: Call, base: GitCommit, head: GitCommit, fork: GitCommit) -> dict[str, Json]:
    view, repository = View.of(call), call.named_repository
    page_url = f"{view.html(repository)}/compare"
    span = "...".join(_names(call))
    ids = f"{repository.owner}:{base.id[:7]}...{repository.owner}:{head.id[:7]}"
    return {
        "url": f"{view.api(repository)}/compare/{span}",
        "html_url": f"{page_url}/{span}",
        "permalink_url": f"{page_url}/{ids}",
        "diff_url": f"{page_url}/{span}.diff",
        "patch_url": f"{page_url}/{span}.patch",
        "base_commit": commits.full(view, repository, base),
        "merge_base_commit": commits.full(view, repository, fork),
    }


def _relation(ahead: Sequence[GitCommit], behind: Sequence[GitCommit]) -> str:
    if ahead and behind:
        return "diverged"
    if ahead:
        return "ahead"
    return "behind" if behind else "identical"


def _files(call: Call, base: str, head: str) -> list[Json]:
    view, repository = View.of(call), call.named_repository
    changes = call.store.git(repository).diff(base, head)[:MAX_FILES]
    return [commits.changed_file(view, repository, change, head) for change in changes]
