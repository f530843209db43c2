"""Branches written by the REST API: made, moved forward, deleted.

Each write names where the branch is expected to stand, and never overwrites another's commit.
"""

from __future__ import annotations

from typing import Final, Literal
from urllib.parse import quote

from kalypso_actions.clients.github import branches, idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import Location


class RefConflictError(GitHubError):
    """The branch does not stand where it was expected, but at `head` (None: it does not exist)."""

    def __init__(
        self, repository: str, branch: str, expected: str | None, head: str | None
    ) -> None:
        super().__init__(
            f"the branch {branch} stands {_at(head)}, and was expected {_at(expected)}",
            Location(repository),
            "another run or a person was faster: run again",
        )
        self.head = head


ADVICE: Final = {
    "object does not exist": "push the commit to the repository before",
    "reference does not exist": "the branch was deleted meanwhile: run again",
    "not a fast forward": "the commit does not descend from the branch's head: run again",
    "protected": "let the token's identity pass the branch's rules",
}


def create(
    github: GitHub, repository: str, branch: str, commit: str
) -> Literal["created", "unchanged"]:
    """A branch at a commit of the repository.

    Raises RefConflictError where the branch exists at another commit, and GitHubError.
    """

    def find() -> str | None:
        head = branches.head(github, repository, branch)
        if head not in {None, commit}:
            raise RefConflictError(repository, branch, None, head)
        return head

    def write() -> str:
        body = {"ref": f"refs/heads/{branch}", "sha": commit}
        failure = f"the branch {branch} cannot be created at {commit}"
        rest.write(github, repository, failure, "POST", "/git/refs", body, advice=ADVICE)
        return commit

    _, written = idempotent_writes.write_if_absent(github, find, write)
    return "created" if written else "unchanged"


def update(
    github: GitHub, repository: str, branch: str, commit: str, *, expected: str
) -> Literal["updated", "unchanged"]:
    """Move a branch forward from `expected` to a commit that descends from it.

    GitHub moves it only forward (`force` is never sent), so that a commit which arrives meanwhile
    is refused and not lost. Raises RefConflictError where the branch stands elsewhere, GitHubError.
    """

    def find() -> str | None:
        head = branches.head(github, repository, branch)
        if head not in {expected, commit}:
            raise RefConflictError(repository, branch, expected, head)
        return head if head == commit else None

    def write() -> str:
        failure = f"the branch {branch} cannot be moved from {expected} to {commit}"
        path = f"/git/refs/heads/{quote(branch)}"
        body = {"sha": commit, "force": False}
        rest.write(github, repository, failure, "PATCH", path, body, advice=ADVICE)
        return commit

    _, written = idempotent_writes.write_if_absent(github, find, write)
    return "updated" if written else "unchanged"


def delete(
    github: GitHub, repository: str, branch: str, *, expected: str
) -> Literal["deleted", "unchanged"]:
    """Delete a branch that stands at `expected`; an absent one is fine.

    GitHub compares nothing when it deletes: a commit that arrives between the look and the
    deletion is lost with the branch. Raises RefConflictError, GitHubError.
    """

    def find() -> Literal[True] | None:
        head = branches.head(github, repository, branch)
        if head not in {None, expected}:
            raise RefConflictError(repository, branch, expected, head)
        return True if head is None else None

    def write() -> Literal[True]:
        failure = f"the branch {branch} cannot be deleted"
        path = f"/git/refs/heads/{quote(branch)}"
        rest.write(github, repository, failure, "DELETE", path, advice=ADVICE)
        return True

    _, written = idempotent_writes.write_if_absent(github, find, write)
    return "deleted" if written else "unchanged"


def _at(head: str | None) -> str:
    return "nowhere" if head is None else f"at {head}"
