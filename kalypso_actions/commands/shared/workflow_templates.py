"""The workflows that people copy into their repositories, with their placeholders filled in.

`workflows-templates` has a folder for each place, with a file for each workflow.

    control-plane               the control plane's main branch
    control-plane-environment   each of its environment branches
    control-plane-pages         the main branch, too; people copy it if they want a site
    gitops                      each environment branch of a GitOps repository
    application-source          the main branch of an application's source, with upstream's names
    application-gitops          each branch of its GitOps repository
    application-configs         each branch of its configs
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal

import kalypso_actions
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.doctor_rules.workflow_faults import workflow_faults
from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.errors import Finding
from kalypso_actions.inputs.local import DEFAULT_ACTION
from kalypso_actions.model.documents import EXECUTABLE_MODE, FILE_MODE, RevisionFiles
from kalypso_actions.model.workflow_files import FOLDER, TEMPLATES, Placeholders, fill_in
from kalypso_actions.onboarding.files import for_branch

Place = Literal[
    "control-plane",
    "control-plane-environment",
    "control-plane-pages",
    "gitops",
    "application-source",
    "application-gitops",
    "application-configs",
]

INPUTS_OF_LAUNCH: Final = frozenset({"wheelhouse", "plugins"})
"""The inputs of actions that install kalypso, beside those of the command."""

PACKAGE: Final = Path(kalypso_actions.__file__).parent


def workflow_files(place: Place, marks: Placeholders) -> dict[str, str]:
    """Return the workflows of a place, filled in, by their paths in the repository.

    Raises KalypsoError for an unknown placeholder.
    """
    return {
        f"{FOLDER}{file.name}": fill_in(file.read_text(encoding="utf-8"), marks, file.name)
        for file in sorted((templates_folder() / place).glob("*.y*ml"))
    }


def faults_of_workflows(
    files: BranchWorkflows, place: Place, main: str, names: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return what breaks the chain in the workflow files of a branch.

    `names` are those of the workflows on `main`, the default branch, for any other branch.
    """
    actions, _, ref = DEFAULT_ACTION.partition("@")
    ours = workflow_files(place, Placeholders(actions, ref, "acme/control-plane"))
    if place != "gitops":
        ours = dict(for_branch(ours, main))
    return tuple(workflow_faults(files, ours, main, inputs_of_actions(), names=names))


def inputs_of_actions() -> dict[str, Collection[str]]:
    """Return the names of the inputs of our actions."""
    return {
        name: {field.replace("_", "-") for field in command.model.model_fields} | INPUTS_OF_LAUNCH
        for name, command in COMMANDS.items()
        if command.icon
    }


def read_workflows(files: RevisionFiles) -> dict[str, str]:
    """Read the files of a commit below `.github/workflows`, by path. Raises KalypsoError."""
    paths = [
        path
        for path, entry in files.entries().items()
        if path.startswith(FOLDER) and entry.mode in {FILE_MODE, EXECUTABLE_MODE}
    ]
    contents = files.read(paths)
    return {path: contents[path].decode("utf-8", "replace") for path in paths}


def templates_folder() -> Path:
    """Return the folder of the templates: in the installed package, or beside it in a checkout."""
    installed = PACKAGE / TEMPLATES
    return installed if installed.is_dir() else PACKAGE.parent / TEMPLATES
