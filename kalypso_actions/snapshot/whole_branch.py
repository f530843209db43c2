"""A branch of a control plane with everything that is said in it, to whomever."""

from __future__ import annotations

import dataclasses

from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.snapshot.reading import KustomizeBuild, read_documents


def read_branch(
    files: RevisionFiles, source: RepositoryPath, kustomize: KustomizeBuild | None
) -> Reading:
    """The branch's documents, and its Environments, which main's `.sourceignore` usually hides.

    Raises KalypsoError when it cannot be read.
    """

    def read(*, ignore_sourceignore: bool) -> Reading:
        return read_documents(
            files,
            repository=source.repo,
            branch=source.branch,
            path=source.path,
            kustomize=kustomize,
            ignore_sourceignore=ignore_sourceignore,
        )

    reading = read(ignore_sourceignore=False)
    seen = {document.where for document in reading.documents}
    hidden = tuple(
        document
        for document in read(ignore_sourceignore=True).documents
        if document.kind == "Environment" and document.where not in seen
    )
    return dataclasses.replace(reading, documents=reading.documents + hidden)
