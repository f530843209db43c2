"""What a path names, or GitHub's answer that there is no such thing."""

from __future__ import annotations

from kalypso_actions.sandbox.endpoints import Call, RefusedError
from kalypso_actions.sandbox.git_commits import GitCommit
from kalypso_actions.sandbox.routing import number
from kalypso_actions.sandbox.store import Issue, PullRequest


def not_found() -> RefusedError:
    """404, as for everything that is not there or not to be seen."""
    return RefusedError(404, "Not Found")


def commit(call: Call, revision: str, status: int = 404) -> GitCommit:
    """A commit by id, branch or tag. Raises RefusedError: 409 in an empty repository.

    With status 422, an unknown commit is refused as by those endpoints that name it.
    """
    git = call.store.git(call.named_repository)
    try:
        return git.commit(revision)
    except LookupError:
        if not git.refs():
            raise RefusedError(409, "Git Repository is empty.") from None
        if status == 422:
            raise RefusedError(422, f"No commit found for SHA: {revision}") from None
        raise not_found() from None


def known_commit(call: Call, revision: str) -> GitCommit:
    """The same for endpoints that answer 404 in an empty repository too."""
    try:
        return call.store.git(call.named_repository).commit(revision)
    except LookupError:
        raise not_found() from None


def issue(call: Call) -> Issue:
    """The issue or pull request of the path. Raises RefusedError."""
    found = call.named_repository.issues.get(number(call.parameters["issue_number"]))
    if found is None:
        raise not_found()
    return found


def pull_request(call: Call) -> tuple[Issue, PullRequest]:
    """The pull request of the path, as an issue and for itself. Raises RefusedError."""
    found = call.named_repository.issues.get(number(call.parameters["pull_number"]))
    if found is None or found.pull_request is None:
        raise not_found()
    return found, found.pull_request
