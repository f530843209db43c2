"""Read the branch of the environment that a person names."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.shared.reading.control_plane import read_environment_branch
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import EnvironmentInputs
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Environment, RepositoryPath


@dataclass(frozen=True, slots=True)
class EnvironmentBranch:
    """An environment's name, its branch and its Environment object, and the control plane.

    A folder that is read alone has neither object nor control plane.
    """

    environment: str
    own: Reading
    declared: Environment | None = None
    control_plane: str = ""


def read_branch_of(
    inputs: EnvironmentInputs, reader: Reader, context: LocalContext, *, verb: str
) -> EnvironmentBranch:
    """Read the branch of the control plane, folder or clone that the inputs name.

    `verb` begins the log line about the files of a clone. Raises KalypsoError for an
    unreadable branch, UsageError if nothing is named.
    """
    name = inputs.environment
    if inputs.control_plane is not None:
        own, declared = read_environment_branch(reader, inputs.control_plane, name)
        return EnvironmentBranch(name, own, declared, inputs.control_plane)
    folder = inputs.environment_dir
    if folder is None:
        return _branch_of_clone(name, reader, context, verb)
    if not folder.is_dir():
        raise UsageError(f"--environment-dir {folder}: there is no such folder")
    # Even in a clone, read the working tree: people render before they commit.
    return EnvironmentBranch(name, reader.documents_of(FolderFiles(folder), branch=name))


def _branch_of_clone(
    name: str, reader: Reader, context: LocalContext, verb: str
) -> EnvironmentBranch:
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
    return EnvironmentBranch(environment.name, own, environment, str(clone.path))
