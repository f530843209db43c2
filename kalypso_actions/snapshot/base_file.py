"""Which commit of main an environment branch has, and the file that says so."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.promotion.base_branch import BASE_REPO_FILE, BaseDocument, base_document
from kalypso_actions.snapshot.reading import read_documents
from kalypso_actions.sources.paths import OutsideRepositoryError, join, normalize


@dataclass(frozen=True, slots=True)
class BaseFile:
    """The file with the BaseRepo named main: its text (None: there is no file), its commit."""

    where: Location
    text: str | None
    commit: str | None


def read_base_file(files: RevisionFiles, folder: str) -> BaseFile:
    """That of the environment which lies in `folder` of these files.

    Where no document of the environment is the BaseRepo, it is the file of the usual name. What is
    wrong with other documents makes no difference: a promotion may well be what corrects it.
    Raises KalypsoError where the branch cannot be read, or has two of them.
    """
    try:
        usual = join(normalize(folder), BASE_REPO_FILE)
    except OutsideRepositoryError as error:
        message = f"the environment's path {folder!r} leaves the repository"
        raise KalypsoError(message, Location(files.repository)) from error
    found = _document(files, folder) or BaseDocument(usual, None)
    where = Location(files.repository, found.path)
    if found.path not in files.entries():
        return BaseFile(where, None, None)
    try:
        text = files.read([found.path])[found.path].decode()
    except UnicodeDecodeError as error:
        raise KalypsoError("it is not UTF-8", where, "save it as UTF-8") from error
    return BaseFile(where, text, found.commit)


def _document(files: RevisionFiles, folder: str) -> BaseDocument | None:
    """As Flux would find it; else anywhere in the folder, since no kustomization is built here."""
    for whole_tree in (False, True):
        reading = read_documents(
            files,
            repository=files.repository,
            branch="",
            path=folder,
            kustomize=None,
            ignore_sourceignore=whole_tree,
        )
        found = base_document(reading.documents)
        if found:
            return found
    return None
