"""The file with the commit of main that an environment branch has."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.commands.shared.reading.revision_reader import read_documents
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.promotion.base_branch import BASE_REPO_FILE, BaseDocument, base_document
from kalypso_actions.sources.paths import OutsideRepositoryError, join, normalize


@dataclass(frozen=True, slots=True)
class BaseFile:
    """The file with the BaseRepo named main: its text (None for no file) and its commit."""

    where: Location
    text: str | None
    promoted_commit: str | None


def read_base_file(files: RevisionFiles, folder: str) -> BaseFile:
    """Read the file of the environment in `folder`.

    Without the BaseRepo, return the file of the usual name. Problems of other documents do not
    matter, because a promotion may correct them. Raises KalypsoError if the branch cannot be read,
    or has two such files.
    """
    try:
        usual = join(normalize(folder), BASE_REPO_FILE)
    except OutsideRepositoryError as error:
        message = f"the environment's path {folder!r} leaves the repository"
        raise KalypsoError(message, Location(files.repository)) from error
    document = _document(files, folder) or BaseDocument(usual, None)
    where = Location(files.repository, document.path)
    if document.path not in files.entries():
        return BaseFile(where, None, None)
    try:
        text = files.read([document.path])[document.path].decode()
    except UnicodeDecodeError as error:
        raise KalypsoError("it is not UTF-8", where, "save it as UTF-8") from error
    return BaseFile(where, text, document.promoted_commit)


def _document(files: RevisionFiles, folder: str) -> BaseDocument | None:
    """Find the document as Flux does, or else anywhere in the folder, without building it."""
    for whole_tree in (False, True):
        reading = read_documents(
            files,
            repository=files.repository,
            branch="",
            path=folder,
            kustomize=None,
            ignore_sourceignore=whole_tree,
        )
        document = base_document(reading.documents)
        if document:
            return document
    return None
