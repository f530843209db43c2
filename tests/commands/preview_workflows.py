"""The workflows of previews and the report, for the demo's organisation, which has none."""

from __future__ import annotations

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, MARKS
from kalypso_actions.commands.shared.workflow_templates import Place, workflow_files
from kalypso_sandbox import Sandbox


def add_previews(sandbox: Sandbox) -> None:
    """Push the workflows to the default branch and to the branches of all environments."""
    _push(sandbox, "main", "control-plane")
    for environment in ENVIRONMENTS:
        _push(sandbox, environment, "control-plane-environment")


def _push(sandbox: Sandbox, branch: str, place: Place) -> None:
    files = workflow_files(place, MARKS).items()
    previews = {path: text for path, text in files if "preview" in path or "report" in path}
    sandbox.commit(CONTROL_PLANE, previews, branch=branch)
