"""The demo's Acme, with the workflow templates as they are shipped, and the actions that they use."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from kalypso_actions.commands.demo import application, organisation
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, MARKS
from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Environment
from tests.e2e.clock import PresentClock
from tests.git_repositories import git

ROOT: Final = Path(__file__).resolve().parents[2]

PACKAGES: Final = ("kalypso_actions", "kalypso_go", "kalypso_placement")
OF_ACTIONS: Final = ("action.yml", "actions", *PACKAGES, "pyproject.toml", "requirements.lock")
"""The files of the project that its actions need."""

ENVIRONMENT_FOLDER: Final = ".environments"
NEXT: Final = "    kalypso.io/next-environment: stage\n"

BEGINNING: Final = timedelta(minutes=30)
"""The age of the organisation when the story begins."""


def create_organisation(sandbox: Sandbox, clock: PresentClock) -> dict[str, str]:
    """Make the organisation in an empty sandbox; return the secrets of its workflows."""
    with clock.ago(BEGINNING):
        secrets = organisation.create_organisation(sandbox)
        _name_the_next_by_variables(sandbox)
        _publish_actions(sandbox)
    return secrets


def create_application(sandbox: Sandbox, clock: PresentClock) -> dict[str, str]:
    """Give the application its chain; return the secrets of its workflows."""
    with clock.ago(BEGINNING):
        return application.create_application(sandbox)


def _name_the_next_by_variables(sandbox: Sandbox) -> None:
    """Let a variable of the GitHub environment name the next one, instead of an annotation."""
    path = f"{ENVIRONMENT_FOLDER}/dev.yaml"
    text = sandbox.git(CONTROL_PLANE).files("main")[path].decode()
    assert NEXT in text
    files = {path: text.replace(NEXT, "")}
    sandbox.commit(CONTROL_PLANE, files, message="Variables say what comes next")
    with sandbox.lock:
        sandbox.repository(CONTROL_PLANE).environments["dev"] = Environment(
            id=sandbox.store.new_id(),
            name="dev",
            created_at=sandbox.store.now,
            variables={"NEXT_ENVIRONMENT": "stage"},
        )


def _publish_actions(sandbox: Sandbox) -> None:
    """Push the project with its uncommitted changes, under the tag of a release."""
    with sandbox.lock:
        sandbox.create_repository(MARKS.actions, private=False)
        folder = sandbox.git(MARKS.actions).git_dir
        work = ("--git-dir", str(folder), "--work-tree", str(ROOT))
        git(ROOT, *work, "add", "--", *OF_ACTIONS)
        git(ROOT, *work, "commit", "--quiet", "--message", "The actions")
        git(ROOT, *work, "tag", MARKS.ref)
