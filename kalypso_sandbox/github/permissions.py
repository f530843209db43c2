"""GitHub's rules about which repositories a token can see, and what it may do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_sandbox.store import Identity, Repository

ANONYMOUS: Final = Identity(kind="user", login="", permissions={})
"""The identity of a request without a token."""

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}

NEVER_PUBLIC: Final = frozenset({"administration", "actions_variables", "secrets", "workflows"})
"""Data that even a public repository shows only with the permission."""


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


def accepted(permissions: Sequence[str]) -> str:
    """Return the header x-accepted-github-permissions for alternative permissions."""
    return "; ".join(permission.replace(": ", "=") for permission in permissions)


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
