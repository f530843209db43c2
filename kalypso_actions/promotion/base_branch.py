"""Where an environment branch says which commit of main it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.object_ids import is_commit_id

BASE_REPO_FILE: Final = "base-repo.yaml"
"""Where it stands unless people have put it elsewhere, in the environment's folder."""


@dataclass(frozen=True, slots=True)
class BaseDocument:
    """The file that holds the BaseRepo named main, and the commit that it names, if any."""

    path: str
    commit: str | None


def base_document(documents: Iterable[Document]) -> BaseDocument | None:
    """The BaseRepo named main among the documents of an environment branch; None without one.

    What else is wrong with it makes no difference here. Raises KalypsoError where two files have
    one: nobody could say which of them counts.
    """
    found = [one for one in documents if one.kind == "BaseRepo" and one.name == MAIN_BASE_REPO]
    if not found:
        return None
    first = found[0]
    other = next((one for one in found if one.where.path != first.where.path), None)
    if other:
        raise KalypsoError(
            f"the BaseRepo {MAIN_BASE_REPO!r} is already defined in {first.where}",
            other.where,
            "remove one of the two",
        )
    spec = first.body.get("spec")
    commit = spec.get("commit") if isinstance(spec, dict) else None
    is_one = isinstance(commit, str) and is_commit_id(commit)
    return BaseDocument(first.where.path, commit if is_one else None)
