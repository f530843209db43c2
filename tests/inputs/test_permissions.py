"""The guide asks an App's owner for just what the table of permissions says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kalypso_actions.inputs.permissions import (
    CONTROL_PLANE,
    GITOPS,
    PERMISSIONS,
    REGISTERED,
    Place,
    of_app,
    of_job,
)

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "security.md"
ROW = re.compile(r"^ *\| ([A-Z][a-z ]+) \| (read|read and write) \| .* \|$", re.MULTILINE)
OTHER_NAMES = {"commit_statuses": "statuses"}
"""GitHub's settings have words of their own."""


def test_the_guide_asks_an_app_for_what_it_needs() -> None:
    asked = {}
    for words, level in ROW.findall(GUIDE.read_text(encoding="utf-8")):
        name = words.lower().replace(" ", "_")
        asked[OTHER_NAMES.get(name, name)] = level.rpartition(" ")[2]
    assert asked.pop("metadata") == "read"
    assert asked == of_app()


@pytest.mark.parametrize(
    ("command", "place", "verify_only", "wanted"),
    [
        ("ci", CONTROL_PLANE, False, "contents read, statuses write, actions write"),
        ("schedule", GITOPS, False, "contents write, pull-requests write, issues write"),
        ("schedule", REGISTERED, False, "contents read"),
        ("cd", GITOPS, False, ""),
        ("cd", CONTROL_PLANE, True, "contents read"),
        ("check-promote", CONTROL_PLANE, True, "contents read"),
    ],
)
def test_what_a_job_is_granted(command: str, place: Place, verify_only: bool, wanted: str) -> None:
    granted = of_job(command, place, verify_only=verify_only)
    assert ", ".join(f"{name} {level}" for name, level in granted.items()) == wanted


@pytest.mark.parametrize("command", PERMISSIONS)
def test_a_permission_has_one_row_for_each_place(command: str) -> None:
    rows = [(row.place, row.name) for row in PERMISSIONS[command]]
    assert len(rows) == len(set(rows))
