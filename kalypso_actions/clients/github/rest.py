"""REST calls by the paths of GitHub's API description: JSON in, JSON out.

PyGithub's objects are not used: an attribute that a response lacks makes them send another request,
beside our handling of errors. Each listed issue would be requested again to learn whether it is a
pull request, and each listed pull request to learn whether it was merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from github.GithubObject import NonCompletableGithubObject
from github.PaginatedList import PaginatedList

from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.clients.github.messages import Json

Advice = Mapping[str, str]
"""A phrase of GitHub's message, in lower case -> what to change; the first match counts."""


def segment(name: str) -> str:
    """Quote a name as one segment of a path."""
    return quote(name, safe="")


def read(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
) -> Json:
    """GET a path, which begins after `/repos/{owner}/{repo}`; of a list, one page.

    `failure` begins the error message. Raises GitHubError.
    """
    return github.call(
        repository, failure, lambda: _send(github, repository, "GET", path, parameters=parameters)
    )


def read_optional(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None = None,
) -> Json | None:
    """As `read`; None if GitHub answers 404. Raises GitHubError."""
    return github.call_optional(
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
    """GET all pages of a list.

    `item` is the key of the list if a page is an object. Raises GitHubError.
    """
    return github.call(
        repository, failure, lambda: _read_pages(github, repository, path, parameters, item)
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
    """As `read_all`; None if GitHub answers 404. Raises GitHubError."""
    return github.call_optional(
        repository, failure, lambda: _read_pages(github, repository, path, parameters, item)
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
    """POST, PATCH, PUT or DELETE, once; `idempotent_writes` handles lost responses.

    Raises GitHubError with the `advice` for GitHub's message.
    """
    try:
        return github.call(
            repository, failure, lambda: _send(github, repository, method, path, body)
        )
    except GitHubError as error:
        # If no token could be obtained, the refusal concerns the token request.
        reason = error.reason.lower() if error.problem.message.startswith(failure) else ""
        for phrase, change in (advice or {}).items():
            if phrase in reason:
                raise with_advice(error, change) from None
        raise


def with_advice(error: GitHubError, advice: str) -> GitHubError:
    """Return the same error with this advice."""
    return GitHubError(
        error.problem.message,
        error.problem.where,
        advice,
        status=error.status,
        reason=error.reason,
        errors=error.errors,
        uncertain=error.uncertain,
        limited=error.limited,
    )


class _Item(NonCompletableGithubObject):
    """An item of a list, with its JSON as `raw_data`."""

    def _initAttributes(self) -> None:  # noqa: N802 - PyGithub's name
        pass

    def _useAttributes(self, attributes: Json) -> None:  # noqa: N802 - PyGithub's name
        pass


def _read_pages(
    github: GitHub, repository: str, path: str, parameters: Mapping[str, str] | None, item: str
) -> list[Json]:
    target = github.repository(repository)
    url, query = target.url + path, dict(parameters or {})

    def read_pages() -> list[Json]:
        items = PaginatedList(_Item, target.requester, url, query, list_item=item)
        return [entry.raw_data for entry in items]

    return github.recent_writes.await_visibility(repository, "GET", path, None, read_pages)


def _send(
    github: GitHub,
    repository: str,
    method: str,
    path: str,
    body: Json = None,
    parameters: Mapping[str, str] | None = None,
) -> Json:
    target = github.repository(repository)

    def send() -> Json:
        _, answer = target.requester.requestJsonAndCheck(
            method, target.url + path, parameters=dict(parameters or {}), input=body
        )
        return answer

    return github.recent_writes.await_visibility(repository, method, path, body, send)
