"""Commits, and the relation of two commits."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.github import ON_BRANCH, Commit, Relation
from kalypso_actions.model.history import BranchPosition

WITHOUT_FILES: Final = {"per_page": "1", "page": "2"}
"""GitHub computes the differing files only for the first page, and fails there for large trees.

https://docs.github.com/rest/commits/commits#compare-two-commits
"""


def get(github: GitHub, repository: str, commit: str) -> Commit:
    """Return a commit by its full id. Raises GitHubError."""
    failure = f"the commit {commit} cannot be read"
    answer = rest.read(github, repository, failure, f"/git/commits/{rest.segment(commit)}")
    return Commit(
        id=answer["sha"],
        tree=answer["tree"]["sha"],
        parents=tuple(parent["sha"] for parent in answer["parents"]),
        message=answer["message"],
        committed_at=datetime.fromisoformat(answer["committer"]["date"]),
    )


def relation(github: GitHub, repository: str, base: str, head: str) -> Relation | None:
    """Return the relation of `head` to `base` (commit ids or branches), with one request.

    Return None if one of them is not in the repository, or if they share no history.
    Raises GitHubError.
    """
    failure, path = _comparison(base, head)
    answer = rest.read_optional(github, repository, failure, path, WITHOUT_FILES)
    status: Relation | None = None if answer is None else answer["status"]
    return status


def position(github: GitHub, repository: str, commit: str, branch: str) -> BranchPosition:
    """Return the place of a commit on a branch, with one request. Raises GitHubError."""
    failure, path = _comparison(commit, branch)
    answer = rest.read_optional(github, repository, failure, path, WITHOUT_FILES)
    if answer is None:
        return BranchPosition(branch, commit, "", None)
    subject = str(answer["base_commit"]["commit"]["message"]).partition("\n")[0]
    is_on_branch = answer["status"] in ON_BRANCH
    return BranchPosition(branch, commit, subject, answer["ahead_by"] if is_on_branch else None)


def commits_after(
    github: GitHub, repository: str, base: str, head: str, most: int
) -> tuple[int, int, tuple[CommitSubject, ...]]:
    """Return how many commits `head` is ahead of `base` and behind it, and the newest of them.

    GitHub lists the commits of a comparison from the oldest to the newest. Raises GitHubError.
    """
    failure, path = _comparison(base, head)
    answer = rest.read(github, repository, failure, path, WITHOUT_FILES)
    ahead, behind = int(answer["ahead_by"]), int(answer["behind_by"])
    if ahead:
        last = -(-ahead // most)
        pages = [max(last - 1, 1), last] if ahead % most else [last]
        query = {"per_page": str(most)}
        answers = [
            rest.read(github, repository, failure, path, {**query, "page": str(page)})
            for page in dict.fromkeys(pages)
        ]
        newest = [commit for each in answers for commit in each["commits"]][::-1]
    else:
        newest = []
    subjects = (
        CommitSubject(
            commit["sha"], commit["commit"]["message"].partition("\n")[0], commit["html_url"]
        )
        for commit in newest[:most]
    )
    return ahead, behind, tuple(subjects)


def merge_base(github: GitHub, repository: str, base: str, head: str) -> str:
    """Return the newest common ancestor of two commits or branches, with one request.

    Raises GitHubError.
    """
    failure, path = _comparison(base, head)
    answer = rest.read(github, repository, failure, path, WITHOUT_FILES)
    return str(answer["merge_base_commit"]["sha"])


def _comparison(base: str, head: str) -> tuple[str, str]:
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"
    return f"{base} and {head} cannot be compared", path
