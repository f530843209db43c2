"""The workflow files of a repository's branches, and the secrets and variables that they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.clients.github import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.workflow_templates import (
    Place,
    read_workflows,
    workflow_files,
)
from kalypso_actions.doctor_rules import (
    Files,
    UsedNames,
    used_actions,
    used_names,
    workflow_checks,
)
from kalypso_actions.doctor_rules.workflows import Templates
from kalypso_actions.inputs.init import DEFAULT_ACTION
from kalypso_actions.model.workflow_placeholders import Placeholders
from kalypso_actions.onboarding.workflows import for_branch

ACTIONS, _, REF = DEFAULT_ACTION.partition("@")
"""For the paths of the templates, which are the same whatever actions they use."""

MAIN: Final = "control-plane"


@dataclass(frozen=True, slots=True)
class Used:
    """What the workflow files of a repository use, in all branches that were looked at.

    `names` are secrets and variables, by the paths of files that belong there; `actions` are the
    repositories of our actions.
    """

    names: dict[str, UsedNames] = field(default_factory=dict)
    actions: set[str] = field(default_factory=set)


def templates(place: Place, control_plane: str, main: str) -> Templates:
    """Our workflow files of a place; `main` is the control plane's default branch."""

    def filled(actions: str, ref: str) -> Mapping[str, str]:
        files = workflow_files(place, Placeholders(actions, ref, control_plane))
        return for_branch(files, main) if place == MAIN else files

    return filled


def read_files(
    context: CommandContext, repository: str, branch: str, checklist: Checklist
) -> Files | None:
    """The workflow files of a branch; None where it cannot be read."""
    url = context.url(repository)
    texts = checklist.required(
        lambda: read_workflows(context.repositories.open(url, branch=branch)), repository
    )
    return None if texts is None else Files(repository, branch, texts)


def disabled_files(
    context: CommandContext, repository: str, checklist: Checklist
) -> Mapping[str, str]:
    """The workflow files that GitHub does not run, with their states."""
    states = checklist.optional(lambda: workflows.states(context.github, repository), repository)
    return {one.path: one.state for one in states or () if one.state.startswith("disabled")}


def check_files(
    files: Files, ours: Templates, disabled: Mapping[str, str], used: Used, checklist: Checklist
) -> None:
    """Record how a branch's files stand, and add to `used` what they use."""
    paths = tuple(ours(ACTIONS, REF))
    checklist.add(workflow_checks(files, paths, ours, disabled))
    used.actions.update(used_actions(files.texts.values()))
    for path in paths:
        if path in files.texts:
            known = used.names.get(path, UsedNames())
            used.names[path] = known | used_names(files.texts[path])
