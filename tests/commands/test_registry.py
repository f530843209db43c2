"""The permissions of a job's token, from the commands' rows."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.registry import CHAIN, ChainCommand, job_permissions
from kalypso_actions.model.permissions import CONTROL_PLANE, GITOPS, REGISTERED, Place


@pytest.mark.parametrize(
    ("command", "place", "verify_only", "wanted"),
    [
        ("ci", CONTROL_PLANE, False, "contents read, statuses write, actions write"),
        ("schedule", GITOPS, False, "contents write, pull-requests write, issues write"),
        ("schedule", REGISTERED, False, "contents read"),
        ("cd", GITOPS, False, ""),
        ("cd", CONTROL_PLANE, True, "contents read, statuses write"),
        ("check-promote", CONTROL_PLANE, True, "contents read, statuses write"),
    ],
)
def test_what_a_job_is_granted(command: str, place: Place, verify_only: bool, wanted: str) -> None:
    granted = job_permissions(command, place, verify_only=verify_only)
    assert ", ".join(f"{name} {level}" for name, level in granted.items()) == wanted


@pytest.mark.parametrize("command", CHAIN, ids=lambda command: command.name)
def test_a_permission_has_one_row_for_each_place(command: ChainCommand) -> None:
    rows = [(row.place, row.name) for row in command.permissions]
    assert len(rows) == len(set(rows))
