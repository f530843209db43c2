"""Plan the changes to each branch from the set-up and the present state of the branches."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, Literal

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.workflow_files import (
    Origin,
    is_upstreams_other_file,
    origin_of_workflow,
)
from kalypso_actions.onboarding.files import (
    TEMPLATE_NAMES,
    StarterFiles,
    WorkflowFiles,
    for_branch,
    former_paths,
    with_next_environment,
)
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup, Setup

BASE_REPO_FILE: Final = "base-repo.yaml"

README_FILE: Final = "README.md"


@dataclass(frozen=True, slots=True)
class BranchState:
    """The present state of a branch; `head` is "" if it does not exist.

    `files` are the texts below `.github/workflows`, and `paths` are all paths. `documents` are the
    kind and name of each Kalypso document, and `objects` the texts of the files with Environment
    objects that get another annotation.
    """

    head: str = ""
    paths: Set[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)
    documents: Set[tuple[str, str]] = frozenset()
    objects: Mapping[str, str] = field(default_factory=dict)


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
        for environment in self.setup.environments:
            files |= self.starter.of_clusters(self.setup, environment)
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
        changes += next_environment_changes(self.setup, state.objects)
        if self.setup.is_new:
            changes += additions(self.starter.of_main(self.setup), state.paths)
        changes += additions(self.starter.of_source(self.setup), state.paths)
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


NO_NEWLINE: Final = "\\ No newline at end of file"

REASONS: Final[Mapping[Origin, str]] = {
    "upstream": "in place of upstream's workflow",
    "ours": "differs from the template",
    "foreign": "is somebody else's workflow",
}

NO_PATHS: Final[Mapping[str, str]] = {}

Action = Literal["add", "replace", "annotate", "update", "delete"]
"""`add` a missing file; `replace` upstream's workflow with ours; `annotate` an Environment object.

`update` a workflow that people have changed, and `delete` a file that upstream left behind: both
need consent.
"""


@dataclass(frozen=True, slots=True)
class OnboardingChange:
    """A change to one file: its text before (None: missing) and after (None: deleted)."""

    path: str
    action: Action
    before: str | None
    after: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """The changes that people agree to; all other changes need no consent but that to write."""

    update_workflows: bool = False
    delete_upstream_workflows: bool = False

    def covers(self, action: str) -> bool:
        """Whether people agree to an `Action`."""
        match action:
            case "update":
                return self.update_workflows
            case "delete":
                return self.delete_upstream_workflows
        return True


@dataclass(frozen=True, slots=True)
class BranchPlan:
    """The changes to a branch; `head` is its commit ("": the branch does not exist).

    `base_files` are the paths of base-repo.yaml: their changes get the commit of main as soon as
    it is known.
    """

    repository: RepositorySetup
    branch: str
    head: str
    changes: tuple[OnboardingChange, ...]
    base_files: frozenset[str] = frozenset()

    @property
    def is_main(self) -> bool:
        """Whether the branch is the repository's default branch."""
        return self.branch == self.repository.main

    @property
    def starts_chain(self) -> bool:
        """Whether a push to the branch starts a chain."""
        return self.is_main and self.repository.role in {"control plane", "source"}

    def written(self, consent: Consent) -> tuple[OnboardingChange, ...]:
        """Return the changes that people agree to."""
        return tuple(change for change in self.changes if consent.covers(change.action))


@dataclass(frozen=True, slots=True)
class WrittenBranch:
    """The result of a plan: the branch's new commit ("": none), or the URL of a pull request."""

    plan: BranchPlan
    commit: str = ""
    pull_request_url: str = ""


def additions(files: Mapping[str, str], paths: Iterable[str]) -> list[OnboardingChange]:
    """Return the additions of missing `files`; existing files stay, because they are people's."""
    existing = set(paths)
    return [
        OnboardingChange(path, "add", None, text)
        for path, text in files.items()
        if path not in existing and not _is_below_file(path, existing)
    ]


def next_environment_changes(
    setup: Setup, objects: Mapping[str, str]
) -> Iterator[OnboardingChange]:
    """Yield the changes that let existing Environment objects name the new ones as next."""
    texts = dict(objects)
    reasons: dict[str, list[str]] = {}
    for environment in setup.environments:
        path, names = environment.object_path, environment.next_environment
        text = with_next_environment(texts.get(path, ""), environment.name, names)
        if path and names and text:
            texts[path] = text
            reasons.setdefault(path, []).append(f"{names} after {environment.name}")
    for path, reason in reasons.items():
        yield OnboardingChange(path, "annotate", objects[path], texts[path], ", ".join(reason))


def annotated_environments(setup: Setup, plans: Iterable[BranchPlan]) -> set[str]:
    """Return the environments that plans let existing Environment objects name as next."""
    edited = {
        change.path for plan in plans for change in plan.changes if change.action == "annotate"
    }
    return {
        environment.next_environment.rpartition(",")[2]
        for environment in setup.environments
        if environment.object_path in edited
    }


def workflow_changes(
    templates: Mapping[str, str],
    files: Mapping[str, str],
    paths: Set[str],
    former_paths: Mapping[str, str] = NO_PATHS,
) -> list[OnboardingChange]:
    """Return the changes that turn the workflow files of a branch into the templates.

    `files` are the texts of its workflow files, and `paths` are all its paths, including links and
    submodules. A file at a former path moves if people agree, because both files would run.
    """
    changes = []
    for path, template in templates.items():
        text = files.get(path)
        if former := former_paths.get(path):
            reason = f"is named {posixpath.basename(path)} now"
            changes.append(OnboardingChange(former, "update", files[former], None, reason))
            changes.append(OnboardingChange(path, "update", None, template, f"was {former} before"))
            continue
        if text is None:
            is_free = path not in paths and not _is_below_file(path, paths)
            action: Action = "add" if is_free else "update"
            reason = "" if is_free else "is not a file"
            changes.append(OnboardingChange(path, action, None, template, reason))
            continue
        origin = origin_of_workflow(text, template)
        if origin != "current":
            action = "replace" if origin == "upstream" else "update"
            changes.append(OnboardingChange(path, action, text, template, REASONS[origin]))
    for path, text in files.items():
        if path not in templates and is_upstreams_other_file(path, text, templates):
            changes.append(
                OnboardingChange(path, "delete", text, None, "upstream's, no longer used")
            )
    return changes


def kept_warnings(plans: Iterable[BranchPlan], consent: Consent) -> Iterator[Problem]:
    """Warn of changed workflows that stay because people have not agreed to update them."""
    for plan in plans:
        for change in plan.changes:
            if change.action == "update" and not consent.covers(change.action):
                yield Problem(
                    f"on {plan.branch}: the workflow {change.reason}; it stays unchanged",
                    Location(plan.repository.name, change.path),
                    "--update-workflows writes the template",
                )


def unified_diff(change: OnboardingChange) -> str:
    """Return the change in Git's format."""
    before = (change.before or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if change.before is None else f"a/{change.path}",
        "/dev/null" if change.after is None else f"b/{change.path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


def _is_below_file(path: str, paths: Set[str]) -> bool:
    """Whether a parent of the path is a file, a link or a submodule."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in paths for depth in range(1, len(parts)))
