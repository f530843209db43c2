"""Commits, and the relation of two commits."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import Location
from kalypso_actions.model.github import Commit, Comparison, Relation

PAGE_SIZE: Final = 100


def get(github: GitHub, repository: str, commit: str) -> Commit:
    """Return a commit by its full id. Raises GitHubError."""
    failure = f"the commit {commit} cannot be read"
    answer = rest.read(github, repository, failure, f"/git/commits/{rest.segment(commit)}")
    return Commit(
        id=answer["sha"],
        tree=answer["tree"]["sha"],
        parents=tuple(parent["sha"] for parent in answer["parents"]),
        message=answer["message"],
    )


def relation(github: GitHub, repository: str, base: str, head: str) -> Relation | None:
    """Return the relation of `head` to `base` (commit ids or branches), by one request.

    It is None if one of them is not in the repository, or if they share no history.
    Raises GitHubError.
    """
    failure = f"{base} and {head} cannot be compared"
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"
    answer = rest.read_optional(github, repository, failure, path, {"per_page": "1", "page": "1"})
    status: Relation | None = None if answer is None else answer["status"]
    return status


def compare(github: GitHub, repository: str, base: str, head: str) -> Comparison:
    """Return the relation of `head` to `base` (commit ids or branches), and the commits between.

    All pages are read, oldest commits first. Raises GitHubError, also if commits are missing.
    """
    failure = f"{base} and {head} cannot be compared"
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"
    commits: dict[str, None] = {}
    page = 0
    while True:
        page += 1
        parameters = {"per_page": str(PAGE_SIZE), "page": str(page)}
        answer = rest.read(github, repository, failure, path, parameters)
        ids = [commit["sha"] for commit in answer["commits"]]
        commits.update(dict.fromkeys(ids))
        if len(commits) == answer["total_commits"]:
            return Comparison(
                relation=answer["status"],
                merge_base=answer["merge_base_commit"]["sha"],
                commits=tuple(commits),
            )
        if not ids:
            raise GitHubError(
                f"{failure}: GitHub lists {len(commits)} of {answer['total_commits']} commits",
                Location(repository),
                "try again: one of the branches may have moved",
            )
