"""The demo's Acme, with the workflow templates as they are shipped, and the actions they use."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from kalypso_actions.commands.demo import organisation
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS
from kalypso_actions.commands.workflow_templates import Place, workflow_files
from kalypso_actions.model.workflow_marks import Marks
from kalypso_actions.sandbox import Sandbox
from kalypso_actions.sandbox.azure.identity.entra import Federated
from kalypso_actions.sandbox.azure.identity.github import PUBLIC_ISSUER
from tests.e2e.clock import PresentClock
from tests.git_repositories import git

ROOT: Final = Path(__file__).resolve().parents[2]

PROJECT: Final = "kalypso-actions/kalypso-actions"
RELEASE: Final = "v0"
MARKS: Final = Marks(actions=PROJECT, ref=RELEASE, control_plane=CONTROL_PLANE)
OF_ACTIONS: Final = ("action.yml", "actions", "kalypso_actions", "requirements.lock")
"""What of the project its actions need."""

BEGINNING: Final = timedelta(minutes=30)
"""So long all of it has been there already."""


def found(sandbox: Sandbox, clock: PresentClock) -> dict[str, str]:
    """Make all of it in an empty sandbox; the secrets of the repositories' workflows."""
    with clock.ago(BEGINNING):
        secrets = organisation.found(sandbox)
        _sign_in_by_environment(sandbox)
        _put_workflows(sandbox, "control-plane", CONTROL_PLANE, "main")
        for environment in ENVIRONMENTS:
            _put_workflows(sandbox, "control-plane-environment", CONTROL_PLANE, environment)
            _put_workflows(sandbox, "gitops", GITOPS, environment)
        _publish_actions(sandbox)
    return secrets


def _put_workflows(sandbox: Sandbox, place: Place, repository: str, branch: str) -> None:
    files = workflow_files(place, MARKS)
    sandbox.commit(repository, files, branch=branch, message="Kalypso's workflows")


def _sign_in_by_environment(sandbox: Sandbox) -> None:
    """A job in a GitHub environment is known to Azure by that instead of by its branch."""
    (application,) = sandbox.azure.applications.values()
    application.federated = [
        Federated(subject=f"repo:{CONTROL_PLANE}:environment:{name}", issuer=PUBLIC_ISSUER)
        for name in ENVIRONMENTS
    ]


def _publish_actions(sandbox: Sandbox) -> None:
    """The project as it lies here, with what is not committed, under the tag of a release."""
    with sandbox.lock:
        sandbox.create_repository(PROJECT, private=False)
        folder = sandbox.git(PROJECT).git_dir
        work = ("--git-dir", str(folder), "--work-tree", str(ROOT))
        git(ROOT, *work, "add", "--", *OF_ACTIONS)
        git(ROOT, *work, "commit", "--quiet", "--message", "The actions")
        git(ROOT, *work, "tag", RELEASE)
