"""Read an environment's own branch, to plan it with any commit of main."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kalypso_actions.commands.shared.reading.base_file import read_base_file
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.revision_reader import read_documents
from kalypso_actions.errors import Location
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.promotion.base_branch import base_document
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.sources.yaml_documents import parse_yaml


@dataclass(frozen=True, slots=True)
class MainCommit:
    """A commit of main, the branch's name, and the URL of the control plane."""

    url: str
    branch: str
    commit: str


def read_own_branch(
    reader: Reader, place: RepositoryPath, repository: str, main: MainCommit, commit: str = ""
) -> tuple[Reading, str | None]:
    """Return the documents of an environment's branch, and the commit of main that it names.

    Read the branch at `commit`, else at its head. If it names no commit of main, use that of
    `main`, as cd will write it. Locations name `repository`.
    """
    files = reader.repositories.open(place.repo, branch=place.branch, commit=commit or None)
    reading = read_documents(
        files,
        repository=repository,
        branch=place.branch,
        path=place.path,
        kustomize=reader.kustomize,
    )
    document = base_document(reading.documents)
    if document:
        return reading, document.promoted_commit
    base = read_base_file(files, place.path)
    if base.promoted_commit:  # the plan warns that nobody applies the file
        return reading, base.promoted_commit
    where = Location(repository, base.where.path)
    text = with_commit(None, main.commit, repo=main.url, branch=main.branch, where=where)
    new = parse_yaml(repository, base.where.path, text.encode()).documents
    return dataclasses.replace(reading, documents=(*reading.documents, *new)), None
