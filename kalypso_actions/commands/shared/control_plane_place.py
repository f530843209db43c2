"""The control plane that diff reads, with its environments and their branches."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kalypso_actions import fleet
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.shared.own_branch import MainCommit, read_own_branch
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.environments import find_environments
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, GitOpsRepo
from kalypso_actions.model.nearest import nearest


@dataclass(frozen=True, slots=True)
class EnvironmentPlace:
    """An environment with its own branch, and its present commit of main.

    `repository` is the URL of main in its BaseRepo.
    """

    environment: Environment
    own: Reading
    commit: str
    repository: str
    gitops_repos: tuple[GitOpsRepo, ...]


@dataclass(frozen=True, slots=True)
class ControlPlanePlace:
    """A control plane at a URL or path, with its main branch and Environment objects."""

    place: str
    main: str
    head: str
    environments: Mapping[str, Environment]
    reader: Reader

    @property
    def name(self) -> str:
        """The last part of the repository's URL or path."""
        place = self.place if "://" in self.place else str(Path(self.place).resolve())
        return Path(place).name.removesuffix(".git")

    def environment(self, name: str) -> EnvironmentPlace:
        """Read an environment's branch. Raises KalypsoError, UsageError for an unknown one."""
        declared = self.environments.get(name)
        if declared is None:
            close = nearest(name, self.environments)
            suggestion = f"did you mean {close}? " if close else ""
            advice = f"{suggestion}Environments: {', '.join(self.environments)}"
            raise UsageError(f"there is no Environment {name!r} on {self.main}", advice=advice)
        place = dataclasses.replace(declared.control_plane, repo=self.place)
        main = MainCommit(self.place, self.main, self.head)
        own, commit = read_own_branch(self.reader, place, self.place, main)
        branch = fleet.Branch(name, own.documents)
        assembled, _ = fleet.assemble(name, branch, ())
        repositories = (
            base.source.repo for base in assembled.base_repos if base.name == MAIN_BASE_REPO
        )
        repository = next(repositories, self.place)
        return EnvironmentPlace(
            declared, own, commit or self.head, repository, assembled.gitops_repos
        )


def find_control_plane(
    place: str | None, reader: Reader, context: LocalContext
) -> ControlPlanePlace:
    """Return the control plane at a URL or path, else that of the current clone.

    Raises UsageError without a control plane, KalypsoError for faulty Environment objects.
    """
    if place is None:
        clone = context.clone(reader)
        if clone is None:
            raise UsageError(
                "no control plane is named, and the current folder is not a clone of one",
                advice="change to a clone whose main has Environment objects, or name the control "
                "plane with --control-plane",
            )
        place = str(clone.path)
    main = reader.repositories.main_branch(place)
    environments, problems = find_environments(reader, place, main)
    if problems:
        raise KalypsoError.of(problems)
    head = reader.repositories.resolve(place, main, main)
    return ControlPlanePlace(place, main, head, environments, reader)
