"""Check the workflow files of branches, and collect the names and actions that they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kalypso_actions.clients.github import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.workflow_templates import (
    Place,
    read_workflows,
    workflow_files,
)
from kalypso_actions.doctor_rules import (
    BranchWorkflows,
    UsedNames,
    copy_checks,
    used_actions,
    used_names,
    workflow_checks,
)
from kalypso_actions.doctor_rules.workflows import Templates
from kalypso_actions.inputs.init import DEFAULT_ACTION
from kalypso_actions.model.workflow_placeholders import Placeholders
from kalypso_actions.onboarding.workflows import for_branch, under_present_paths

ACTIONS, _, REF = DEFAULT_ACTION.partition("@")
"""The value does not matter: it is only used to list the templates' paths."""


@dataclass(slots=True)
class Used:
    """The names and actions that the workflow files of a repository's branches use.

    `names` are secrets and variables, by the paths of the files; `actions` are the repositories of
    Kalypso's actions.
    """

    names: dict[str, UsedNames] = field(default_factory=dict)
    actions: set[str] = field(default_factory=set)


def templates(place: Place, control_plane: str, main: str) -> Templates:
    """Return the templates of a place; `main` is the control plane's main branch."""

    def fill(actions: str, ref: str) -> Mapping[str, str]:
        files = workflow_files(place, Placeholders(actions, ref, control_plane))
        return files if place == "gitops" else for_branch(files, main)

    return fill


def read_files(
    context: CommandContext, repository: str, branch: str, checklist: Checklist
) -> BranchWorkflows | None:
    """Read the workflow files of a branch, by their present names; None if it cannot be read."""
    url = context.url(repository)
    texts = checklist.required(
        lambda: read_workflows(context.repositories.open(url, branch=branch)), repository
    )
    return (
        None if texts is None else BranchWorkflows(repository, branch, under_present_paths(texts))
    )


def read_states(
    context: CommandContext, repository: str, checklist: Checklist
) -> Mapping[str, str]:
    """Return GitHub's states of the workflows on the default branch, by path."""
    states = checklist.optional(lambda: workflows.states(context.github, repository), repository)
    return {workflow.path: workflow.state for workflow in states or ()}


def check_copies(
    default: BranchWorkflows | None, files: BranchWorkflows, ours: Templates, checklist: Checklist
) -> None:
    """Check that the default branch has the workflow files of another branch."""
    if default and default.branch != files.branch:
        checklist.add(copy_checks(default, files, ours(ACTIONS, REF)))


def check_files(
    files: BranchWorkflows,
    ours: Templates,
    states: Mapping[str, str],
    used: Used,
    checklist: Checklist,
) -> None:
    """Check the workflow files of a branch, and add their names and actions to `used`."""
    paths = tuple(ours(ACTIONS, REF))
    checklist.add(workflow_checks(files, paths, ours, states))
    used.actions.update(used_actions(files.texts.values()))
    for path in paths:
        if path in files.texts:
            names = used.names.get(path, UsedNames())
            used.names[path] = names | used_names(files.texts[path])
