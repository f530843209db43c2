"""The two repositories as they are: their branches, and what they hold of Kalypso."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from kalypso_actions import fleet
from kalypso_actions.commands.init.repositories import InitRepositories
from kalypso_actions.commands.runtime.workflow_templates import read_workflows
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.init import DEFAULT_ENVIRONMENTS, InitInputs
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.urls import repository_key
from kalypso_actions.onboarding import (
    BranchState,
    EnvironmentSetup,
    RepositorySetup,
    Setup,
    default_branch_conflict,
)
from kalypso_actions.snapshot.gather import environments_among
from kalypso_actions.snapshot.reading import read_documents
from kalypso_actions.snapshot.repositories import DEFAULT_BRANCH

OUR_API: Final = "scheduler.kalypso.io/"


@dataclass(frozen=True, slots=True)
class CurrentState:
    """How both repositories stand, and how they are to be set up."""

    setup: Setup
    states: Mapping[tuple[str, str], BranchState]
    warnings: tuple[Problem, ...]


def read_current_state(inputs: InitInputs, repositories: InitRepositories) -> CurrentState:
    """Read every branch that matters.

    Raises UsageError for environments that cannot be, KalypsoError for what cannot be read.
    """
    reader = _Reader(repositories)
    main = reader.read(repositories.control_plane, repositories.control_plane.main)
    known, problems = environments_among(main.documents if main else ())
    if problems:
        raise KalypsoError.of(problems)
    is_new = not _ours(main)
    environments = _environments(inputs, repositories, known, is_new=is_new)
    reader.ask_for_heads(
        repositories.control_plane, [DEFAULT_BRANCH, *(one.branch for one in environments)]
    )
    reader.check_main()
    reader.ask_for_heads(
        repositories.gitops, [repositories.gitops.main, *(one.name for one in environments)]
    )
    environments = [reader.with_gitops_branches(one) for one in environments]
    reader.look(repositories.gitops, repositories.gitops.main)
    setup = Setup(repositories.control_plane, repositories.gitops, tuple(environments), is_new)
    return CurrentState(setup, reader.states, tuple(reader.warnings))


def _environments(
    inputs: InitInputs,
    repositories: InitRepositories,
    known: Mapping[str, Environment],
    *,
    is_new: bool,
) -> list[EnvironmentSetup]:
    """Those that main has, then those that are wanted besides."""
    wanted = inputs.environments or (() if known else DEFAULT_ENVIRONMENTS)
    if not inputs.environments and not known and not is_new:
        raise UsageError(
            "the control plane has no Environment objects",
            Location(repositories.control_plane.name),
            "name the environments with --environments",
        )
    mains = {
        DEFAULT_BRANCH,
        repositories.control_plane.main.lower(),
        repositories.gitops.main.lower(),
    }
    for name in wanted:
        if name in mains and name not in known:
            raise UsageError(
                f"an environment cannot be named {name!r}, as the default branch is",
                advice="an environment has a branch of its own: choose another name",
            )
    existing = [
        EnvironmentSetup(
            one.name,
            one.control_plane.branch,
            one.control_plane.path,
            is_new=False,
            is_first=one.is_first,
        )
        for one in known.values()
    ]
    following = dict(pairwise(wanted))
    new = [
        EnvironmentSetup(
            name,
            name,
            next_environment=following.get(name, ""),
            is_first=not known and name == wanted[0],
        )
        for name in wanted
        if name not in known
    ]
    return existing + new


class _Reader:
    """Reads branches, and remembers their states."""

    def __init__(self, repositories: InitRepositories) -> None:
        self._repositories = repositories
        self.states: dict[tuple[str, str], BranchState] = {}
        self.warnings: list[Problem] = []
        self._heads: dict[tuple[str, str], str | None] = {}

    def ask_for_heads(self, repository: RepositorySetup, branches: Iterable[str]) -> None:
        """Where all of these stand, by one question."""
        wanted = dict.fromkeys(branches)
        found = self._repositories.backend(repository).heads(list(wanted))
        for branch in wanted:
            self._heads[repository.role, branch] = found.get(branch)

    def check_main(self) -> None:
        """Warn where the chain takes another branch of the control plane for its main."""
        repository = self._repositories.control_plane
        if self._heads[repository.role, DEFAULT_BRANCH] and repository.main != DEFAULT_BRANCH:
            wrong = default_branch_conflict(repository.name, repository.main, DEFAULT_BRANCH)
            self.warnings.append(wrong)

    def read(self, repository: RepositorySetup, branch: str) -> Reading | None:
        """The documents of a branch of the control plane; None where there is none.

        Raises KalypsoError for a file of Kalypso that cannot be read: it would be taken for absent.
        """
        files = self._files(repository, branch)
        if files is None:
            return None
        reading = read_documents(
            files,
            repository=repository.name,
            branch=branch,
            path=".",
            kustomize=None,
            ignore_sourceignore=True,
        )
        unread = [one for one in reading.problems if _is_about_us(one, files)]
        if unread:
            raise KalypsoError.of(unread)
        self._remember(repository, branch, files, _ours(reading))
        return reading

    def look(self, repository: RepositorySetup, branch: str) -> None:
        """The files of a branch of the GitOps repository, whose documents may be very many."""
        files = self._files(repository, branch)
        if files is not None:
            self._remember(repository, branch, files)

    def _files(self, repository: RepositorySetup, branch: str) -> RevisionFiles | None:
        if (repository.role, branch) not in self._heads:
            self.ask_for_heads(repository, [branch])
        head = self._heads[repository.role, branch]
        return None if head is None else self._repositories.backend(repository).files(head)

    def _remember(
        self,
        repository: RepositorySetup,
        branch: str,
        files: RevisionFiles,
        documents: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self.states[repository.role, branch] = BranchState(
            files.commit or "", frozenset(files.entries()), read_workflows(files), documents
        )

    def with_gitops_branches(self, environment: EnvironmentSetup) -> EnvironmentSetup:
        """As its branch says, in which GitOpsRepo objects stand; else of the environment's name."""
        control_plane, gitops = self._repositories.control_plane, self._repositories.gitops
        if environment.branch == control_plane.main:
            raise KalypsoError(
                f"environment {environment.name!r} lies on {control_plane.main}, from which it is "
                "promoted",
                Location(control_plane.name),
                "give it a branch of its own",
            )
        reading = self.read(control_plane, environment.branch)
        targets = _gitops_repos(reading)
        branches = dict.fromkeys(
            one.branch for one in targets if repository_key(one.repo) == repository_key(gitops.url)
        )
        if targets and not branches:
            others = ", ".join(sorted({one.repo for one in targets}))
            self.warnings.append(
                Problem(
                    f"environment {environment.name} proposes to {others}, not to "
                    f"{gitops.name}: nothing is written for it there",
                    Location(control_plane.name),
                    "run init with that GitOps repository as well",
                )
            )
        elif not targets:
            branches = {environment.name: None}
        for branch in branches:
            self.look(gitops, branch)
        return replace(environment, gitops_branches=tuple(branches))


def _gitops_repos(reading: Reading | None) -> list[RepositoryPath]:
    """Where an environment proposes; what is wrong with its GitOpsRepo objects, validate tells."""
    documents = [one for one in reading.documents if one.kind == "GitOpsRepo"] if reading else []
    nouns = (fleet.parse_document(document, fleet.Diagnostics()) for document in documents)
    return [noun.target for noun in nouns if isinstance(noun, GitOpsRepo)]


def _ours(reading: Reading | None) -> frozenset[tuple[str, str]]:
    """Kind and name of every document of Kalypso."""
    documents = reading.documents if reading else ()
    return frozenset(
        (document.kind, document.name)
        for document in documents
        if document.api_version.startswith(OUR_API)
    )


def _is_about_us(problem: Problem, files: RevisionFiles) -> bool:
    """Whether a file that cannot be read as documents was meant to hold some of Kalypso."""
    path = problem.where.path if problem.where else ""
    return path in files.entries() and OUR_API.encode() in files.read([path])[path]
