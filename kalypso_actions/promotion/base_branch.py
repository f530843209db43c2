"""The commit of main that an environment branch names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.object_ids import is_commit_id

BASE_REPO_FILE: Final = "base-repo.yaml"
"""The file of the BaseRepo named main in the environment's folder; people may move it."""


@dataclass(frozen=True, slots=True)
class BaseDocument:
    """The file that holds the BaseRepo named main, and the promoted commit that it names."""

    path: str
    promoted_commit: str | None


def base_document(documents: Iterable[Document]) -> BaseDocument | None:
    """Return the BaseRepo named main among the documents of an environment branch, if any.

    Other faults of the document do not matter here. Raise KalypsoError if two files define it,
    because neither file has precedence.
    """
    main = [
        document
        for document in documents
        if document.kind == "BaseRepo" and document.name == MAIN_BASE_REPO
    ]
    if not main:
        return None
    first = main[0]
    other = next((document for document in main if document.where.path != first.where.path), None)
    if other:
        raise KalypsoError(
            f"the BaseRepo {MAIN_BASE_REPO!r} is already defined in {first.where}",
            other.where,
            "remove one of the two",
            "object-duplicate",
        )
    spec = first.body.get("spec")
    commit = spec.get("commit") if isinstance(spec, dict) else None
    is_valid = isinstance(commit, str) and is_commit_id(commit)
    return BaseDocument(first.where.path, commit if is_valid else None)
