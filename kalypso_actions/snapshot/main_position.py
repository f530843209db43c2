"""The commit of main that an environment has, and how far main is ahead of it."""

from __future__ import annotations

from kalypso_actions import fleet
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.snapshot.document_reader import Reader
from kalypso_actions.snapshot.repositories import Repositories


def main_position(snapshot: Snapshot, reader: Reader) -> BranchPosition | None:
    """Return the place of the commit that a snapshot was rendered with.

    None if the environment has no BaseRepo named main, or reads a folder without commits.
    """
    for base, reading in snapshot.bases:
        if base.name == MAIN_BASE_REPO and reading.revision.commit:
            source = base.source
            return reader.repositories.position(source.repo, source.branch, reading.revision.commit)
    return None


def position_in_clone(
    reading: Reading, clone: str, repositories: Repositories
) -> BranchPosition | None:
    """Return the place of the commit that a branch names, if the clone has the commit."""
    for document in reading.documents:
        if (document.kind, document.name) == ("BaseRepo", MAIN_BASE_REPO):
            base = fleet.parse_document(document, fleet.Diagnostics())
            if isinstance(base, BaseRepo) and base.commit:
                position = repositories.position(clone, base.source.branch, base.commit)
                return position if position and not position.fault else None
    return None
