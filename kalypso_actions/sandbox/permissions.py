"""Who may see a repository, and who may do what in it, as GitHub decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_actions.sandbox.store import Identity, Repository

ANONYMOUS: Final = Identity(kind="user", login="", permissions={})
"""Who comes without a token."""

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}

NEVER_PUBLIC: Final = frozenset({"administration", "actions_variables", "secrets", "workflows"})
"""What even a public repository shows to nobody without the permission."""


def covers(identity: Identity, repository: Repository) -> bool:
    """Whether the token was made for this repository."""
    if identity.owner and identity.owner.lower() != repository.owner.lower():
        return False
    if identity.repositories is None:
        return bool(identity.login)
    names = {name.lower() for name in (repository.full_name, *repository.former_names)}
    return any(name.lower() in names for name in identity.repositories)


def visible(identity: Identity, repository: Repository) -> bool:
    """Whether there is such a repository for whoever asks; GitHub answers 404 otherwise."""
    return not repository.private or covers(identity, repository)


def allowed(identity: Identity, permissions: Sequence[str], repository: Repository | None) -> bool:
    """Whether the identity has one of these (`contents: write`), for a visible repository.

    Who may write may read. None are needed to read what everybody sees of a public repository.
    Without a repository, those of the token itself count.
    """
    return not permissions or any(_has(identity, one, repository) for one in permissions)


def accepted(permissions: Sequence[str]) -> str:
    """The header x-accepted-github-permissions: one of these would be enough."""
    return "; ".join(one.replace(": ", "=") for one in permissions)


def _has(identity: Identity, permission: str, repository: Repository | None) -> bool:
    name, _, level = permission.partition(": ")
    if repository is not None:
        public = not repository.private and name not in NEVER_PUBLIC
        if level == "read" and (public or name == "metadata"):
            return True
        if not covers(identity, repository):
            return False
    return LEVELS.get(identity.permissions.get(name, ""), 0) >= LEVELS[level]
