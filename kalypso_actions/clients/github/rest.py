"""Call GitHub's REST API by the paths of its description, with JSON in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from requests.utils import parse_header_links

from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.errors import Location

PAGE_SIZE: Final = "100"
"""Items per page: GitHub's maximum."""

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
    """GET a path, which begins after `/repos/{owner}/{repo}`; for a list, return one page.

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
    """As `read`, but return None if GitHub answers 404. Raises GitHubError."""
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
        repository,
        failure,
        lambda: _read_pages(github, repository, failure, path, parameters, item),
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
    """As `read_all`, but return None if GitHub answers 404. Raises GitHubError."""
    return github.call_optional(
        repository,
        failure,
        lambda: _read_pages(github, repository, failure, path, parameters, item),
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


def _read_pages(
    github: GitHub,
    repository: str,
    failure: str,
    path: str,
    parameters: Mapping[str, str] | None,
    item: str,
) -> list[Json]:
    def read_pages() -> list[Json]:
        items: list[Json] = []
        url = f"/repos/{repository}{path}"
        query: Mapping[str, str] | None = {"per_page": PAGE_SIZE, **(parameters or {})}
        while url:
            answer = github.send(repository, "GET", url, query)
            page = answer.body.get(item) if isinstance(answer.body, dict) else answer.body
            if not isinstance(page, list):
                message = f"{failure}: GitHub sent something other than a list"
                raise GitHubError(message, Location(repository))
            items += page
            url, query = _next_page(answer.headers), None
        return items

    return github.recent_writes.await_visibility(repository, "GET", path, None, read_pages)


def _next_page(headers: Mapping[str, str]) -> str:
    """Return the URL of the next page; "" for the last one.

    https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    links = parse_header_links(headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), "")


def _send(
    github: GitHub,
    repository: str,
    method: str,
    path: str,
    body: Json = None,
    parameters: Mapping[str, str] | None = None,
) -> Json:
    url = f"/repos/{repository}{path}"
    return github.recent_writes.await_visibility(
        repository,
        method,
        path,
        body,
        lambda: github.send(repository, method, url, parameters, body).body,
    )
