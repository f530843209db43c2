"""What the GitHub App may do where it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.doctor_rules.check import Check, ok, problem
from kalypso_actions.model.github import AppInstallation

LEVELS: Final = {"read": 1, "write": 2, "admin": 3}


def app_checks(
    owner: str, installed: AppInstallation, needed: Mapping[str, str]
) -> Iterator[Check]:
    """Whether the installation for an owner has what the chain needs, by the API's names."""
    granted = installed.permissions
    missing = [
        f"{name}: {level}"
        for name, level in needed.items()
        if LEVELS.get(granted.get(name, ""), 0) < LEVELS[level]
    ]
    if not missing:
        yield ok(owner, "the App is installed, with the permissions that it needs")
        return
    yield problem(
        owner,
        f"the App lacks {', '.join(missing)}",
        "add them to the App's permissions, and accept them where it is installed",
        installed.page,
    )
