"""The workflows that people copy into their repositories, with their placeholders filled in.

`workflows-templates` has a folder for each place, with a file for each workflow.

    control-plane               the control plane's main branch
    control-plane-environment   each of its environment branches
    control-plane-pages         the main branch, too; people copy it if they want a site
    control-plane-record        the main branch, too; people copy it if they keep a record
    gitops                      each environment branch of a GitOps repository
    application-source          the main branch of an application's source, with upstream's names
    application-gitops          each branch of its GitOps repository
    application-configs         each branch of its configs
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, Literal, get_args, get_origin

from pydantic import BaseModel

import kalypso_actions
from kalypso_actions.commands.registry import ACTIONS, CONTROL_PLANE, ChainCommand, Permission
from kalypso_actions.commands.set_up import OUTPUTS as SET_UP_OUTPUTS
from kalypso_actions.comparison.text_masking import has_token
from kalypso_actions.doctor_rules.workflow_faults import (
    differing_versions,
    misplaced_workflows,
    unstarted_branches,
    workflow_faults,
    workflow_names,
)
from kalypso_actions.doctor_rules.workflow_steps import OurAction
from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.errors import Finding
from kalypso_actions.inputs.local import DEFAULT_ACTION
from kalypso_actions.inputs.values import Secret
from kalypso_actions.model.documents import EXECUTABLE_MODE, FILE_MODE, RevisionFiles
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.workflow_files import FOLDER, TEMPLATES, Placeholders, fill_in
from kalypso_actions.onboarding.files import for_branch
from kalypso_actions.platform_config.lint import is_secret

Place = Literal[
    "control-plane",
    "control-plane-environment",
    "control-plane-pages",
    "control-plane-record",
    "gitops",
    "application-source",
    "application-gitops",
    "application-configs",
]

INPUTS_OF_LAUNCH: Final = frozenset({"wheelhouse", "plugins"})
"""The inputs of actions that install kalypso, beside those of the command."""

ALWAYS_AT_LAST: Final = "the branch has the commit"
"""The condition of a permission that each promotion needs in the end."""

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
    files: BranchWorkflows,
    place: Place,
    main: str,
    names: Collection[str] = (),
    default_files: Collection[str] | None = None,
    branches: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Return what breaks the chain in the workflow files of a branch.

    `names` and `default_files` are the names and paths of the workflows on `main`, the default
    branch; None if they are unknown. `branches` are those of all environments, if they are known.
    """
    if place == "control-plane" and default_files is None:
        default_files = files.texts
    repository, _, ref = DEFAULT_ACTION.partition("@")
    ours = workflow_files(place, Placeholders(repository, ref, "acme/control-plane"))
    if place != "gitops":
        ours = dict(for_branch(ours, main))
    else:
        files = replace(files, documents=(PROMOTED_COMMIT_FILE,))
    actions = our_actions("GitOps repositories" if place == "gitops" else CONTROL_PLANE)
    return tuple(
        workflow_faults(
            files,
            ours,
            main,
            actions,
            names=names,
            default_files=default_files,
            branches=branches,
            is_secret=_is_secret,
        )
    )


def _is_secret(key: str, text: str) -> bool:
    return is_secret(key, text) or has_token(text)


def faults_of_branches(
    main: BranchWorkflows, environments: Iterable[BranchWorkflows], branches: Collection[str]
) -> Iterator[Finding]:
    """Yield what breaks the chain in the workflow files of main and of environments' branches.

    `branches` are those of all environments, also of those whose files are not at hand.
    """
    own = list(environments)
    of_main = faults_of_workflows(main, "control-plane", main.branch, branches=branches)
    yield from of_main
    misplaced = [*misplaced_workflows(main)]
    yield from misplaced
    cannot = " cannot start "
    absent = {item.message.partition(cannot)[2] for item in of_main} - {""}
    names = workflow_names(main.texts.values())
    for files in own:
        place: Place = "control-plane-environment"
        known = None if misplaced else main.texts
        for finding in faults_of_workflows(files, place, main.branch, names, known, branches):
            if finding.message.partition(cannot)[2] not in absent:  # main has the finding
                yield finding
    yield from unstarted_branches(main, own)
    yield from differing_versions((main, *own))


@lru_cache(maxsize=2)
def our_actions(place: str = CONTROL_PLANE) -> Mapping[str, OurAction]:
    """Return what our actions take, and the permissions that a job of this place needs.

    Without some permissions, a run only warns, or does less; these are left out.
    """
    return {
        name: OurAction(
            frozenset(field.replace("_", "-") for field in command.model.model_fields)
            | INPUTS_OF_LAUNCH,
            frozenset(_required(command.model)),
            dict(_choices(command.model)),
            {
                field_name.replace("_", "-"): _text(field.default)
                for field_name, field in command.model.model_fields.items()
                if isinstance(field.default, str | timedelta)
            },
            _needed(command.permissions, place),
            _needed(command.verify_only, place),
            partial(_outputs, command),
            frozenset(_secrets(command.model)),
        )
        for name, command in ACTIONS.items()
        if command.icon or name == "start-schedule"
    }


def _text(value: str | timedelta) -> str:
    return f"{value // timedelta(seconds=1)}s" if isinstance(value, timedelta) else value


def _outputs(command: ChainCommand) -> Collection[str]:
    return command.document.OUTPUTS if command.icon else SET_UP_OUTPUTS


def _required(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if field.is_required() and name != "control_plane":
            yield name.replace("_", "-")


def _choices(model: type[BaseModel]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, field in model.model_fields.items():
        if get_origin(field.annotation) is Literal:
            yield name.replace("_", "-"), get_args(field.annotation)


def _secrets(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if field.annotation is Secret:
            yield name.replace("_", "-")


def _needed(rows: Iterable[Permission], place: str) -> dict[str, tuple[str, str]]:
    needed: dict[str, tuple[str, str]] = {}
    for row in rows:
        is_needed = row.only in {"", ALWAYS_AT_LAST} and "; else " not in row.reason
        if row.place == place and is_needed and needed.get(row.name, ("", ""))[0] != "write":
            needed[row.name] = row.level, row.reason
    return needed


def read_workflows(files: RevisionFiles) -> dict[str, str]:
    """Read the files of a commit below `.github/workflows`, by path. Raises KalypsoError.

    YAML files in other folders of `.github` may be workflows that are misplaced.
    """
    paths = [
        path
        for path, entry in files.entries().items()
        if (path.startswith(FOLDER) or re.fullmatch(r"\.github/[^/]+/[^/]+\.ya?ml", path))
        and entry.mode in {FILE_MODE, EXECUTABLE_MODE}
    ]
    contents = files.read(paths)
    return {path: contents[path].decode("utf-8", "replace") for path in paths}


def templates_folder() -> Path:
    """Return the folder of the templates: in the installed package, or beside it in a checkout."""
    installed = PACKAGE / TEMPLATES
    return installed if installed.is_dir() else PACKAGE.parent / TEMPLATES
