"""Where branches stand."""

from __future__ import annotations

from urllib.parse import quote

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError


def head(github: GitHub, repository: str, branch: str) -> str | None:
    """The commit of a branch, None where there is no such branch.

    Asked of `git/ref`, which answers for exactly this name; `git/refs` would answer for every
    branch that begins like it. Raises GitHubError.
    """
    what = f"the branch {branch} cannot be read"
    try:
        answer = rest.read_optional(github, repository, what, f"/git/ref/heads/{quote(branch)}")
    except GitHubError as error:
        # A repository without any commit has no branch either.
        if error.status == 409 and "empty" in error.reason.lower():
            return None
        raise
    return None if answer is None else str(answer["object"]["sha"])


def default(github: GitHub, repository: str) -> str:
    """The name of the default branch. Raises GitHubError."""
    what = "the default branch cannot be read"
    return str(rest.read(github, repository, what, "")["default_branch"])
