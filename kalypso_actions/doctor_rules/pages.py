"""The pages where something can be changed, behind the URL of a repository."""

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
GENERAL: Final = "settings"


def file(branch: str, path: str) -> str:
    """A file on a branch."""
    return f"blob/{quote(branch)}/{quote(path)}"


def workflow(path: str) -> str:
    """A workflow, by its file: where it is switched on."""
    return f"actions/workflows/{quote(path.rpartition('/')[2])}"
