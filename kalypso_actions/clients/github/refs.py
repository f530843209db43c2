"""Create, move and delete branches.

Each write names the expected head of the branch, and never overwrites another commit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal
from urllib.parse import quote

from kalypso_actions.clients.github import branches, idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import Location


class RefConflictError(GitHubError):
    """The branch is not at the expected commit but at `head` (None: it does not exist)."""

    def __init__(
        self, repository: str, branch: str, expected: str | None, head: str | None
    ) -> None:
        super().__init__(
            f"the branch {branch} {_state(head)}, but the run expected that it {_state(expected)}",
            Location(repository),
            "another run or a person has changed it: run again",
        )
        self.head = head


ABSENT: Final = "0" * 40
"""In `updateRefs`, the id of a branch that does not exist."""

UPDATE_REFS: Final = """\
mutation Move(
  $repository: ID!, $ref: GitRefname!, $before: GitObjectID!, $after: GitObjectID!, $force: Boolean!
) {
  updateRefs(input: {
    repositoryId: $repository
    refUpdates: [{name: $ref, beforeOid: $before, afterOid: $after, force: $force}]
  }) { clientMutationId }
}"""

MISSING_MUTATION: Final = 501

WITHOUT_MUTATION: Final = (
    "this server cannot replace a commit of a branch safely by its API: delete the branch, or use "
    "commit-by: git"
)

ADVICE: Final = {
    "object does not exist": "push the commit to the repository first",
    "reference does not exist": "the branch was deleted during this run: run again",
    "not a fast forward": "the commit does not descend from the branch's head: run again",
    "protected": "let the token's identity bypass the branch's rules",
}


def create(
    github: GitHub, repository: str, branch: str, commit: str
) -> Literal["created", "unchanged"]:
    """Create a branch at a commit of the repository.

    Raises RefConflictError if the branch exists at another commit, and GitHubError.
    """

    def write() -> None:
        body = {"ref": f"refs/heads/{branch}", "sha": commit}
        failure = f"the branch {branch} cannot be created at {commit}"
        rest.write(github, repository, failure, "POST", "/git/refs", body, advice=ADVICE)

    written = _write_once(github, repository, branch, None, commit, write)
    return "created" if written else "unchanged"


def update(
    github: GitHub, repository: str, branch: str, commit: str, *, expected: str
) -> Literal["updated", "unchanged"]:
    """Fast-forward a branch from `expected` to a descendant.

    This never sets `force`: if another commit arrives first, GitHub refuses the update. Raises
    RefConflictError if the branch is at another commit, and GitHubError.
    """

    def write() -> None:
        failure = f"the branch {branch} cannot be moved from {expected} to {commit}"
        path = f"/git/refs/heads/{quote(branch)}"
        body = {"sha": commit, "force": False}
        rest.write(github, repository, failure, "PATCH", path, body, advice=ADVICE)

    written = _write_once(github, repository, branch, expected, commit, write)
    return "updated" if written else "unchanged"


def move(
    github: GitHub,
    repository: str,
    branch: str,
    commit: str,
    *,
    expected: str | None,
    fast_forward: bool,
) -> Literal["updated", "unchanged"]:
    """Move a branch from `expected` to a commit; create the branch if `expected` is None.

    GitHub compares the head with `expected` at the moment of the change. A server that lacks the
    mutation only creates and fast-forwards branches (`fast_forward`: the commit descends from
    `expected`). Raises RefConflictError if the branch is at another commit, and GitHubError.
    """
    failure = f"the branch {branch} cannot be moved to {commit}"

    def write() -> None:
        variables = {
            "repository": rest.read(github, repository, failure, "")["node_id"],
            "ref": f"refs/heads/{branch}",
            "before": expected or ABSENT,
            "after": commit,
            "force": not fast_forward,
        }
        github.mutate(repository, failure, UPDATE_REFS, variables)

    try:
        written = _write_once(github, repository, branch, expected, commit, write)
    except GitHubError as error:
        if error.status != MISSING_MUTATION:
            raise
        if expected is None:
            create(github, repository, branch, commit)
        elif fast_forward:
            return update(github, repository, branch, commit, expected=expected)
        else:
            raise rest.with_advice(error, WITHOUT_MUTATION) from None
        written = True
    return "updated" if written else "unchanged"


def delete(
    github: GitHub, repository: str, branch: str, *, expected: str
) -> Literal["deleted", "unchanged"]:
    """Delete a branch at `expected`, if it exists.

    GitHub deletes without comparing: a commit that arrives between the check and the deletion is
    lost with the branch. Raises RefConflictError, GitHubError.
    """

    def write() -> None:
        failure = f"the branch {branch} cannot be deleted"
        path = f"/git/refs/heads/{quote(branch)}"
        rest.write(github, repository, failure, "DELETE", path, advice=ADVICE)

    written = _write_once(github, repository, branch, expected, None, write)
    return "deleted" if written else "unchanged"


def _write_once(
    github: GitHub,
    repository: str,
    branch: str,
    expected: str | None,
    new: str | None,
    write: Callable[[], None],
) -> bool:
    """Move a branch from `expected` to `new` by `write`; return False if it was at `new` before.

    None means that the branch does not exist. Raises RefConflictError if the branch is at neither,
    and GitHubError.
    """

    def find() -> Literal[True] | None:
        head = branches.head(github, repository, branch)
        if head not in {expected, new}:
            raise RefConflictError(repository, branch, expected, head)
        return True if head == new else None

    def write_and_return() -> Literal[True]:
        write()
        return True

    return idempotent_writes.write_if_absent(github, find, write_and_return)[1]


def _state(head: str | None) -> str:
    return "does not exist" if head is None else f"is at {head}"
