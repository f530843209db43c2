"""The guide lists exactly the permissions of the App that the commands need."""

from __future__ import annotations

import re

from kalypso_actions.commands.registry import app_permissions
from tests.docs.pages import ROOT, Page

NAMES = {"commit_statuses": "statuses"}
"""Permissions with another name in GitHub's settings than in its API."""

LEVELS = {"read": "read", "read and write": "write"}


def test_an_app_gets_what_it_needs_and_nothing_else() -> None:
    section = Page(ROOT / "docs" / "guide" / "security.md").section(
        "A GitHub App with least permissions"
    )
    required = {}
    for name, level in re.findall(
        r"^ *\| ([A-Z][a-z ]+) \| (read(?: and write)?) \|", section, re.MULTILINE
    ):
        key = name.lower().replace(" ", "_")
        required[NAMES.get(key, key)] = LEVELS[level]
    assert required == {**app_permissions(), "metadata": "read"}
