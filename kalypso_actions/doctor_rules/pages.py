"""Pages of GitHub where people change something, as paths below a repository's URL."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

SECRETS: Final = "settings/secrets/actions"
VARIABLES: Final = "settings/variables/actions"
ENVIRONMENTS: Final = "settings/environments"
NEW_ENVIRONMENT: Final = "settings/environments/new"
ACTIONS: Final = "settings/actions"
RULES: Final = "settings/rules"
CLASSIC_RULES: Final = "settings/branches"
BRANCHES: Final = "branches"
GENERAL: Final = "settings"


def file(branch: str, path: str) -> str:
    """Return the page of a file."""
    return f"blob/{quote(branch)}/{quote(path)}"


def workflow(path: str) -> str:
    """Return the page where people enable the workflow of a file."""
    return f"actions/workflows/{quote(path.rpartition('/')[2])}"
