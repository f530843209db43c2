"""The two sides of a comparison: snapshots of an environment, or the problems with reading it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    read_control_plane,
    read_own_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.preview import PreviewInputs
from kalypso_actions.model.kinds import Environment, Fleet
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import split


@dataclass(frozen=True, slots=True)
class ChangedBranch:
    """A branch of the control plane at `url`, before (`base`) and after (`head`) a change.

    `main` is the name of the main branch, and `head_of_main` its newest commit. `other_urls` lead
    to the control plane, too: for a clone, `url` is a path.
    """

    url: str
    main: str
    head_of_main: str
    branch: str
    base: str
    head: str
    other_urls: tuple[str, ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the change is one of main, for all environments."""
        return self.branch == self.main

    @property
    def is_local(self) -> bool:
        """Whether a person compares in a clone, where each place names its branch."""
        return split(self.url).scheme == "file"


@dataclass(frozen=True, slots=True)
class Side:
    """An environment with a commit: its snapshot, or the problems that prevent one.

    `promoted_commit` is the commit of main that its branch names, if it can be read. `is_absent`:
    the environment does not exist on this side.
    """

    snapshot: Snapshot | None
    problems: tuple[Problem, ...] = ()
    promoted_commit: str | None = None
    is_absent: bool = False

    def repositories(self) -> Iterator[str]:
        """Yield the URLs of all repositories that the environment names."""
        if self.snapshot is None:
            return
        fleet = self.snapshot.fleet
        yield from (base.source.repo for base, _ in self.snapshot.bases)
        yield from (item.source.repo for item in fleet.registrations)
        yield from (item.target.repo for item in fleet.gitops_repos)
        for reading in self.snapshot.registrations:
            if reading.revision:
                yield reading.revision.repository

    def unread(self) -> Iterator[Problem]:
        """Yield a note on each registration that could not be read, so that it is not compared."""
        for reading in self.snapshot.registrations if self.snapshot else ():
            if not reading.is_readable:
                registration, problem = reading.registration, reading.problems[0]
                message = f"not compared: {problem.message}"
                yield dataclasses.replace(problem, message=message, where=registration.where)


@dataclass(slots=True)
class SideReader:
    """Reads the sides of environments, and each repository once."""

    reader: Reader
    change: ChangedBranch
    inputs: PreviewInputs
    with_base_trees: bool = True
    _base_trees: dict[str, ReadableBaseTrees] = field(default_factory=dict)

    def read(self, environment: Environment, commit: str) -> Side:
        """Return an environment with a commit of the branch that changes."""
        try:
            return self._side(environment, commit)
        except KalypsoError as error:
            problems = (_in_environment(problem, environment) for problem in error.problems)
            return Side(None, tuple(problems))

    def warnings(self, environment: str) -> tuple[Problem, ...]:
        """Return the warnings of GitOps branches that could not be read."""
        trees = self._base_trees.get(environment)
        return tuple(trees.warnings) if trees else ()

    def _side(self, environment: Environment, commit: str) -> Side:
        change = self.change
        own = read_own_branch(
            environment,
            change.url,
            self.reader,
            main=change.main,
            main_commit=commit if change.is_main else change.head_of_main,
            commit="" if change.is_main else commit,
        )
        promoted_commit = commit if change.is_main else None
        control_plane = read_control_plane(own, self.reader, promoted_commit=promoted_commit)
        trees = self._base_trees.setdefault(
            environment.name, ReadableBaseTrees(self.reader.repositories)
        )
        repos = control_plane.fleet.gitops_repos
        scheduler = self.inputs.scheduler or environment.scheduler
        snapshot = read_snapshot(
            control_plane,
            self.reader,
            base_trees=trees.open(repos)
            if self.with_base_trees
            else trees.needed(repos, scheduler),
            delivery=self.inputs.delivery,
        )
        return Side(snapshot, promoted_commit=own.promoted_commit)


def _in_environment(problem: Problem, environment: Environment) -> Problem:
    """Locate a problem of a whole repository, e.g. a missing branch, at the Environment object."""
    if problem.where and problem.where.path:
        return problem
    return dataclasses.replace(problem, where=environment.where)


def with_unread_as_warnings(snapshot: Snapshot) -> Snapshot:
    """Only warn of repositories that cannot be read: this job may lack access that schedule has."""
    registrations = tuple(
        item
        if item.is_readable
        else dataclasses.replace(item, problems=(), warnings=(*item.warnings, *item.problems))
        for item in snapshot.registrations
    )
    return dataclasses.replace(snapshot, registrations=registrations)


def without_content(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot without content, for the side on which the environment does not exist."""
    return dataclasses.replace(
        snapshot,
        own=dataclasses.replace(snapshot.own, documents=(), problems=(), warnings=()),
        bases=(),
        fleet=Fleet(snapshot.environment),
        registrations=(),
        base_trees=(),
        problems=(),
        warnings=(),
        lacking=(),
        unpromoted_templates=frozenset(),
    )
