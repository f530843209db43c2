"""Look up the objects that a path names, or raise GitHub's 404."""

from __future__ import annotations

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.github.endpoints import Call, RefusedError
from kalypso_sandbox.github.routing import number
from kalypso_sandbox.lag import ISSUE_NOT_FOUND
from kalypso_sandbox.store import Issue, PullRequest


def not_found() -> RefusedError:
    """Return the 404 for an object that is missing or hidden."""
    return RefusedError(404, "Not Found")


def commit(call: Call, revision: str, status: int = 404) -> GitCommit:
    """Return a commit by id, branch or tag. Raises RefusedError: 409 in an empty repository.

    With status 422, the refusal names the unknown commit.
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
    """Return a commit, for endpoints that answer 404 even in an empty repository."""
    try:
        return call.store.git(call.named_repository).commit(revision)
    except LookupError:
        raise not_found() from None


def issue(call: Call) -> Issue:
    """Return the issue or pull request of the path. Raises RefusedError."""
    return _numbered(call, "issue_number", not_found())


def issue_to_label(call: Call) -> Issue:
    """Return the issue or pull request of the path. Raises RefusedError.

    GitHub answers 422 for a while after the issue's creation.
    """
    unknown = RefusedError(422, "Validation Failed", (ISSUE_NOT_FOUND,))
    return _numbered(call, "issue_number", unknown)


def pull_request(call: Call) -> tuple[Issue, PullRequest]:
    """Return the pull request of the path, and its issue. Raises RefusedError."""
    issue = _numbered(call, "pull_number", not_found())
    if issue.pull_request is None:
        raise not_found()
    return issue, issue.pull_request


def _numbered(call: Call, parameter: str, unknown: RefusedError) -> Issue:
    """Return an issue; raise `unknown` for one that this endpoint does not know yet."""
    issue = call.named_repository.issues.get(number(call.parameters[parameter]))
    if issue is None:
        raise not_found()
    if call.store.lags(issue.created_at, call.identity):
        raise unknown
    return issue
