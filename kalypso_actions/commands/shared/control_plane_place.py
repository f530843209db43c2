"""The control plane, or the branch of one of its environments, that a person names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    find_environments,
    read_environment_branch,
    read_own_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import EnvironmentInputs
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.nearest import nearest


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

    def environment(self, name: str) -> EnvironmentReading:
        """Read an environment's branch. Raises KalypsoError, UsageError for an unknown one."""
        declared = self.environments.get(name)
        if declared is None:
            close = nearest(name, self.environments)
            suggestion = f"did you mean {close}? " if close else ""
            advice = f"{suggestion}Environments: {', '.join(self.environments)}"
            raise UsageError(f"there is no Environment {name!r} on {self.main}", advice=advice)
        return read_own_branch(
            declared, self.place, self.reader, main=self.main, main_commit=self.head
        )

    def commit_of(self, environment: EnvironmentReading) -> str:
        """Return the commit of main that an environment has, or that cd will write."""
        return environment.promoted_commit or self.head


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


def read_branch_of(
    inputs: EnvironmentInputs, reader: Reader, context: LocalContext, *, verb: str
) -> EnvironmentReading:
    """Read the branch of the control plane, folder or clone that the inputs name.

    `verb` begins the log line about the files of a clone. Raises KalypsoError for an
    unreadable branch, UsageError if nothing is named.
    """
    name = inputs.environment
    if inputs.control_plane is not None:
        return read_environment_branch(reader, inputs.control_plane, name)
    folder = inputs.environment_dir
    if folder is None:
        return _branch_of_clone(name, reader, context, verb)
    if not folder.is_dir():
        raise UsageError(f"--environment-dir {folder}: there is no such folder")
    # Even in a clone, read the working tree: people render before they commit.
    return EnvironmentReading(name, reader.documents_of(FolderFiles(folder), branch=name))


def _branch_of_clone(
    name: str, reader: Reader, context: LocalContext, verb: str
) -> EnvironmentReading:
    clone = context.clone(reader)
    if clone is None:
        raise UsageError(
            f"no control plane is named, and {context.why_no_clone()}",
            advice="change to a clone of the control plane, or name it with --control-plane, or "
            "the environment's folder with --environment-dir",
        )
    environment = clone.environment(name)
    place = environment.control_plane
    context.log(f"{verb} {environment.name}: {clone.place(place.branch)} of {clone}.")
    files = clone.files_of(place.branch)
    if files:
        own = reader.documents_of(files, branch=place.branch, path=place.path)
    else:
        own = reader.documents(RepositoryPath(str(clone.path), place.branch, place.path))
    return EnvironmentReading(environment.name, own, environment, str(clone.path))
