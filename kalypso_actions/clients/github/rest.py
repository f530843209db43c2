"""REST calls by the paths of GitHub's own description: JSON in, JSON out.

PyGithub's objects are not used for them: an attribute that an answer did not hold makes them ask
GitHub again, unseen and beside our handling of errors. Each issue of a list would ask whether it is
a pull request, and each listed pull request whether it was merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from github.GithubObject import NonCompletableGithubObject
from github.PaginatedList import PaginatedList

from kalypso_actions.clients.github.connection import GitHub, GitHubError

Json = Any
"""What GitHub answers; the callers take out of it what they need."""

Advice = Mapping[str, str]
"""Words in GitHub's refusal, in lower case -> what to change then; the first that fit count."""


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


def read(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
) -> Json:
    """GET, one page of a list; `path` begins behind `/repos/{owner}/{repo}`.

    `failure` says what has failed, if it fails. Raises GitHubError.
    """
    return github.ask(
        repository, failure, lambda: _send(github, repository, "GET", path, parameters=parameters)
    )


def read_optional(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
) -> Json | None:
    """As `read`, None where there is nothing at this path. Raises GitHubError."""
    return github.optional(
        repository, failure, lambda: _send(github, repository, "GET", path, parameters=parameters)
    )


def read_all(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
    *,
    item: str = "",
) -> list[Json]:
    """Every entry of every page of a list.

    `item` is the key that holds the entries where an answer is an object. Raises GitHubError.
    """
    return github.ask(
        repository, failure, lambda: _entries(github, repository, path, parameters, item)
    )


def read_all_optional(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
    *,
    item: str = "",
) -> list[Json] | None:
    """As `read_all`, None where there is nothing at this path. Raises GitHubError."""
    return github.optional(
        repository, failure, lambda: _entries(github, repository, path, parameters, item)
    )


def write(
    github: GitHub,
    repository: str,
    failure: str,
    method: str,
    path: str,
    body: Json = None,
    *,
    advice: Advice | None = None,
) -> Json:
    """POST, PATCH, PUT or DELETE, once. Raises GitHubError, with the advice for what GitHub says.

    What a lost answer leaves open is for `idempotent_writes` to find out.
    """
    try:
        return github.ask(
            repository, failure, lambda: _send(github, repository, method, path, body)
        )
    except GitHubError as error:
        # If no token could be obtained, the refusal concerns the token request.
        reason = error.reason.lower() if error.problem.message.startswith(failure) else ""
        for words, change in (advice or {}).items():
            if words in reason:
                raise with_advice(error, change) from None
        raise


def with_advice(error: GitHubError, advice: str) -> GitHubError:
    """The same error with this advice."""
    return GitHubError(
        error.problem.message,
        error.problem.where,
        advice,
        status=error.status,
        reason=error.reason,
        errors=error.errors,
        uncertain=error.uncertain,
    )


class _Entry(NonCompletableGithubObject):
    """An entry of a list, as GitHub gave it."""

    def _initAttributes(self) -> None:  # noqa: N802 - PyGithub's name
        pass

    def _useAttributes(self, attributes: Json) -> None:  # noqa: N802 - PyGithub's name
        pass


def _entries(
    github: GitHub, repository: str, path: str, parameters: Mapping[str, str] | None, item: str
) -> list[Json]:
    known = github.repository(repository)
    first = dict(parameters or {})
    pages = PaginatedList(_Entry, known.requester, known.url + path, first, list_item=item)
    return [entry.raw_data for entry in pages]


def _send(
    github: GitHub,
    repository: str,
    method: str,
    path: str,
    body: Json = None,
    parameters: Mapping[str, str] | None = None,
) -> Json:
    known = github.repository(repository)
    _, answer = known.requester.requestJsonAndCheck(
        method, known.url + path, parameters=dict(parameters or {}), input=body
    )
    return answer
