"""An identity's access to a repository: what it sees there, and what it may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.store import Identity, PullRequest, Repository, Store

ANONYMOUS: Final = Identity(kind="user", login="", permissions={})
"""The identity of a request without a token."""

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}

NEVER_PUBLIC: Final = frozenset({"administration", "actions_variables", "secrets", "workflows"})
"""Data that even a public repository shows only with the permission."""


@dataclass(frozen=True, slots=True)
class RepositoryAccess:
    """An identity that reads or changes a repository, and the prefixes of the links that it gets.

    `target` is None where a request names no repository. An event shows each write at once, without
    lag.
    """

    store: Store
    identity: Identity
    target: Repository | None
    api_url: str
    server_url: str
    is_event: bool = False

    @property
    def repository(self) -> Repository:
        """Return the repository. Raises LookupError if there is none."""
        if self.target is None:
            raise LookupError("the endpoint's path names no repository")
        return self.target

    @property
    def git(self) -> BareRepository:
        """Return the files and commits of the repository."""
        return self.store.git(self.repository)

    @property
    def url(self) -> str:
        """Return the repository's URL in the API."""
        return f"{self.api_url}/repos/{self.repository.full_name}"

    @property
    def page(self) -> str:
        """Return the URL of the repository's page."""
        return f"{self.server_url}/{self.repository.full_name}"

    def at(self, repository: Repository) -> Self:
        """Return the same access to another repository."""
        return replace(self, target=repository)

    def head(self, pull_request: PullRequest) -> str:
        """Return a pull request's head commit, which lags behind a push."""
        moved_at = pull_request.head_moved_at
        lags = not self.is_event and self.store.lags(moved_at, self.identity)
        return pull_request.former_head if lags else pull_request.head_commit


def access_of_event(store: Store, repository: Repository, identity: Identity) -> RepositoryAccess:
    """Return the access of an event, whose links begin with the server's own URL."""
    return RepositoryAccess(
        store, identity, repository, store.api_url, store.server_url, is_event=True
    )


def covers(identity: Identity, repository: Repository) -> bool:
    """Return whether the token is valid for this repository."""
    if identity.owner and identity.owner.lower() != repository.owner.lower():
        return False
    if identity.repositories is None:
        return bool(identity.login)
    names = {name.lower() for name in (repository.full_name, *repository.former_names)}
    return any(name.lower() in names for name in identity.repositories)


def visible(identity: Identity, repository: Repository) -> bool:
    """Return whether the identity can see the repository; GitHub answers 404 otherwise."""
    return not repository.private or covers(identity, repository)


def allowed(identity: Identity, permissions: Sequence[str], repository: Repository | None) -> bool:
    """Return whether the identity has one of these permissions (`contents: write`).

    Write implies read. Public data of a visible, public repository need no permission. Without a
    repository, the permissions of the token itself count.
    """
    return not permissions or any(
        _has(identity, permission, repository) for permission in permissions
    )


def not_accessible(identity: Identity) -> str:
    """Return GitHub's message for a missing permission."""
    credential = "personal access token" if identity.kind == "user" else "integration"
    return f"Resource not accessible by {credential}"


def _has(identity: Identity, permission: str, repository: Repository | None) -> bool:
    name, _, level = permission.partition(": ")
    if repository is not None:
        public = not repository.private and name not in NEVER_PUBLIC
        if level == "read" and (public or name == "metadata"):
            return True
        if not covers(identity, repository):
            return False
    return LEVELS.get(identity.permissions.get(name, ""), 0) >= LEVELS[level]
