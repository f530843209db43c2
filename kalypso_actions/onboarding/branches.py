"""Plan the changes to each branch from the set-up and the present state of the branches."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.onboarding.changes import (
    BranchPlan,
    additions,
    workflow_changes,
)
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup, Setup
from kalypso_actions.onboarding.starter import TEMPLATE_NAMES, StarterFiles
from kalypso_actions.onboarding.workflows import WorkflowFiles, for_branch, former_paths

BASE_REPO_FILE: Final = "base-repo.yaml"

README_FILE: Final = "README.md"


@dataclass(frozen=True, slots=True)
class BranchState:
    """The present state of a branch; `head` is "" if it does not exist.

    `files` are the texts below `.github/workflows`, and `paths` are all paths. `documents` are the
    kind and name of each Kalypso document.
    """

    head: str = ""
    paths: Set[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)
    documents: Set[tuple[str, str]] = frozenset()


NO_BRANCH: Final = BranchState()

States = Mapping[tuple[str, str], BranchState]
"""The states by the repository's role and the branch's name; no other branch exists."""


def plan_branches(
    setup: Setup,
    states: States,
    starter: StarterFiles,
    workflows: WorkflowFiles,
    base_repo_text: str,
) -> tuple[BranchPlan, ...]:
    """Return a plan for each branch, in the order of writing.

    The environments' branches come before main, because a push to main starts the chain, which
    needs them. `base_repo_text` is base-repo.yaml for a new environment.
    """
    planner = _Planner(setup, states, starter, workflows, base_repo_text)
    return (*planner.gitops(), *planner.control_plane())


@dataclass(frozen=True, slots=True)
class _Planner:
    setup: Setup
    states: States
    starter: StarterFiles
    workflows: WorkflowFiles
    base_repo_text: str

    def gitops(self) -> Iterator[BranchPlan]:
        repository = self.setup.gitops
        templates = self.workflows.gitops
        branches = dict.fromkeys(
            branch
            for environment in self.setup.environments
            for branch in environment.gitops_branches
        )
        for branch in branches:
            state = self._state(repository, branch)
            changes = workflow_changes(templates, state.files, state.paths)
            if not state.head:
                changes += additions(self.starter.of_gitops_environment(self.setup), state.paths)
            yield BranchPlan(repository, branch, state.head, tuple(changes))
        if repository.main in branches:
            return
        state = self._state(repository, repository.main)
        files = self.starter.of_gitops_main(self.setup)
        if not self.setup.is_new:
            # GitHub makes a repository's first branch its default branch.
            files = {} if state.head else {README_FILE: files[README_FILE]}
        changes = workflow_changes(templates, state.files, state.paths)
        changes += additions(files, state.paths)
        yield BranchPlan(repository, repository.main, state.head, tuple(changes))

    def control_plane(self) -> Iterator[BranchPlan]:
        for branch in dict.fromkeys(environment.branch for environment in self.setup.environments):
            yield self._environments(branch)
        repository = self.setup.control_plane
        state = self._state(repository, repository.main)
        templates = for_branch(self.workflows.main, repository.main)
        changes = workflow_changes(templates, state.files, state.paths)
        objects = dict(
            self.starter.environment_object(self.setup, environment)
            for environment in self.setup.environments
            if environment.is_new
        )
        changes += additions(objects, state.paths)
        if self.setup.is_new:
            changes += additions(self.starter.of_main(self.setup), state.paths)
        yield BranchPlan(repository, repository.main, state.head, tuple(changes))

    def _environments(self, branch: str) -> BranchPlan:
        """Plan a branch of the control plane; several environments may have a folder on it."""
        repository = self.setup.control_plane
        state = self._state(repository, branch)
        templates = for_branch(self.workflows.environment, repository.main)
        changes = workflow_changes(templates, state.files, state.paths, former_paths(state.files))
        base_files: set[str] = set()
        for environment in self.setup.environments:
            if environment.branch == branch and not state.documents:
                taken = state.paths | {change.path for change in changes}
                base_file, files = self._first_files(environment)
                changes += additions(files, taken)
                base_files.add(base_file)
        return BranchPlan(repository, branch, state.head, tuple(changes), frozenset(base_files))

    def _first_files(self, environment: EnvironmentSetup) -> tuple[str, dict[str, str]]:
        """Return the path of an environment's base-repo.yaml, and its first files."""
        base_file = posixpath.normpath(f"{environment.path}/{BASE_REPO_FILE}")
        files = self.starter.of_environment(
            self.setup, environment, with_samples=self._has_templates
        )
        return base_file, {base_file: self.base_repo_text, **files}

    @property
    def _has_templates(self) -> bool:
        """Whether main has, or gets, the Templates of the sample cluster type."""
        main = self._state(self.setup.control_plane, self.setup.control_plane.main)
        names = {name for kind, name in main.documents if kind == "Template"}
        return self.setup.is_new or names >= TEMPLATE_NAMES

    def _state(self, repository: RepositorySetup, branch: str) -> BranchState:
        return self.states.get((repository.role, branch), NO_BRANCH)
