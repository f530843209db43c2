"""Lists of PyGithub, and requests that PyGithub has no method for, with JSON in and out.

Paths begin after that of the repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar
from urllib.parse import quote

from github import BadAttributeException
from github.GithubObject import NonCompletableGithubObject
from github.Issue import Issue
from github.NamedUser import NamedUser
from github.Organization import Organization
from github.PaginatedList import PaginatedList
from github.PullRequest import PullRequest
from github.Repository import Repository

from kalypso_actions.clients.github.errors import GitHubError, Json

T = TypeVar("T")


def segment(name: str) -> str:
    """Quote a name as one segment of a path."""
    return quote(name, safe="")


def send(repository: Repository, method: str, path: str, body: Json = None) -> Json:
    """Send a request and return the JSON of the response."""
    url = repository.url + path
    return repository.requester.requestJsonAndCheck(method, url, input=body)[1]


def read(repository: Repository, path: str, parameters: Mapping[str, str] | None = None) -> Json:
    """GET a path; for a list, return one page."""
    url = repository.url + path
    return repository.requester.requestJsonAndCheck("GET", url, dict(parameters or {}))[1]


def read_all(
    repository: Repository,
    path: str,
    parameters: Mapping[str, str] | None = None,
    *,
    item: str = "items",
) -> list[Json]:
    """GET all pages of a list; `item` is the key of the list if a page is an object."""
    url, query = repository.url + path, dict(parameters or {})
    pages = PaginatedList(_JsonItem, repository.requester, url, query, list_item=item)
    return [entry.raw_data for entry in all_of(pages)]


def login_of(account: NamedUser | Organization | None) -> str:
    """Return an author's login; "" for a deleted account."""
    return account.login if account else ""


def label_names(item: Issue | PullRequest) -> tuple[str, ...]:
    """Return the names of labels; an issue may have a label as plain text."""
    try:
        return tuple(label.name for label in item.labels)
    except BadAttributeException as error:
        return tuple(
            label if isinstance(label, str) else label["name"] for label in error.actual_value
        )


def all_of(pages: Iterable[T]) -> list[T]:
    """Return the items of all pages."""
    try:
        return list(pages)
    except (AttributeError, KeyError, TypeError, ValueError):  # PyGithub expects a list of objects
        raise GitHubError("GitHub sent something other than a list") from None


class _JsonItem(NonCompletableGithubObject):
    """An item of a list, which has nothing but its JSON."""

    def _initAttributes(self) -> None:  # noqa: N802 - PyGithub's name
        pass

    def _useAttributes(self, attributes: Json) -> None:  # noqa: N802 - PyGithub's name
        attributes.items  # noqa: B018 - raises AttributeError
