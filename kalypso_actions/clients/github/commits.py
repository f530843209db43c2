"""Commits: what they hold, how two of them stand to each other, where they came from."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import from_json, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import Location
from kalypso_actions.model.github import Commit, Comparison, PullRequest, Relation

PAGE: Final = 100


def get(github: GitHub, repository: str, commit: str) -> Commit:
    """A commit by its full id. Raises GitHubError."""
    failure = f"the commit {commit} cannot be read"
    answer = rest.read(github, repository, failure, f"/git/commits/{rest.segment(commit)}")
    return Commit(
        id=answer["sha"],
        tree=answer["tree"]["sha"],
        parents=tuple(parent["sha"] for parent in answer["parents"]),
        message=answer["message"],
    )


def relation(github: GitHub, repository: str, base: str, head: str) -> Relation | None:
    """How `head` stands to `base` (commit ids, or branches), by one request however far they are.

    None where one of them is not in the repository, or they have no history in common.
    Raises GitHubError.
    """
    failure = f"{base} and {head} cannot be compared"
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"
    answer = rest.read_optional(github, repository, failure, path, {"per_page": "1", "page": "1"})
    found: Relation | None = None if answer is None else answer["status"]
    return found


def compare(github: GitHub, repository: str, base: str, head: str) -> Comparison:
    """How `head` stands to `base` (commit ids, or branches): the relation and the commits between.

    Every page is read; GitHub gives a part of the commits on each, the oldest first.
    Raises GitHubError, also where the pages do not make up the whole.
    """
    failure = f"{base} and {head} cannot be compared"
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"
    commits: dict[str, None] = {}
    page = 0
    while True:
        page += 1
        parameters = {"per_page": str(PAGE), "page": str(page)}
        answer = rest.read(github, repository, failure, path, parameters)
        found = [commit["sha"] for commit in answer["commits"]]
        commits.update(dict.fromkeys(found))
        if len(commits) == answer["total_commits"]:
            return Comparison(
                relation=answer["status"],
                merge_base=answer["merge_base_commit"]["sha"],
                commits=tuple(commits),
            )
        if not found:
            raise GitHubError(
                f"{failure}: GitHub gives {len(commits)} of {answer['total_commits']} commits",
                Location(repository),
                "try again: one of the branches may have moved meanwhile",
            )


def pull_requests_of(github: GitHub, repository: str, commit: str) -> tuple[PullRequest, ...]:
    """The pull requests that brought a commit, or that hold it while it is on no default branch.

    Raises GitHubError.
    """
    failure = f"the pull requests of commit {commit} cannot be listed"
    found = rest.read_all(github, repository, failure, f"/commits/{rest.segment(commit)}/pulls")
    return tuple(map(from_json.pull_request, found))
