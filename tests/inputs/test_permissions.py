"""The permissions of a job's token, from the table."""

from __future__ import annotations

import pytest

from kalypso_actions.inputs.permissions import (
    CONTROL_PLANE,
    GITOPS,
    PERMISSIONS,
    REGISTERED,
    Place,
    of_job,
)


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
    granted = of_job(command, place, verify_only=verify_only)
    assert ", ".join(f"{name} {level}" for name, level in granted.items()) == wanted


@pytest.mark.parametrize("command", PERMISSIONS)
def test_a_permission_has_one_row_for_each_place(command: str) -> None:
    rows = [(row.place, row.name) for row in PERMISSIONS[command]]
    assert len(rows) == len(set(rows))
