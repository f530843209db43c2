"""Permissions and repositories of the GitHub App's installation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.doctor_rules.check import Check, ok, problem
from kalypso_actions.model.github import AppInstallation

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}


def app_checks(
    owner: str, installation: AppInstallation, required: Mapping[str, str]
) -> Iterator[Check]:
    """Check the installation for an owner against the permissions that the chain requires.

    `required` maps each permission, as GitHub's API names it, to its level.
    """
    granted = installation.permissions
    missing = [
        f"{name}: {level}"
        for name, level in required.items()
        if LEVELS.get(granted.get(name, ""), 0) < LEVELS[level]
    ]
    if not missing:
        yield ok(owner, "the App is installed with all permissions that it needs")
        return
    yield problem(
        owner,
        f"the App lacks {', '.join(missing)}",
        "add the permissions to the App, and accept them where it is installed",
        installation.page,
    )


def app_repository_check(name: str, installation: AppInstallation, *, is_selected: bool) -> Check:
    """Check that the installation covers a repository."""
    if is_selected:
        return ok(name, "the App is installed for the repository")
    return problem(
        name,
        "the App is not installed for the repository",
        "add the repository to the App's installation",
        installation.page,
    )
