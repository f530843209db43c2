"""The commit of main that an environment has, and how far main is ahead of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kalypso_actions import fleet
from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key
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
    """Return the place of the commit that a branch names."""
    base = _base_main(reading)
    if base is None or base.commit is None:
        return None
    return repositories.position(clone, base.source.branch, base.commit)


def absent_commit(
    reading: Reading, position: BranchPosition | None, remotes: Collection[str]
) -> Iterator[Problem]:
    """Warn of a commit that the clone with these remotes lacks, although its main has it."""
    base = _base_main(reading)
    if base is None or position is None or not position.fault:
        return
    if repository_key(base.source.repo) in map(repository_key, remotes):
        branch = base.source.branch
        yield Problem(
            f"the commit {base.commit} of {branch} is not in this clone",
            base.commit_where or base.where,
            f"git fetch origin {branch}; if it stays absent, write a commit that {branch} has",
            "base-commit-absent",
        )


def _base_main(reading: Reading) -> BaseRepo | None:
    """Return the BaseRepo named main."""
    for document in reading.documents:
        if (document.kind, document.name) == ("BaseRepo", MAIN_BASE_REPO):
            base = fleet.parse_document(document, fleet.Diagnostics())
            return base if isinstance(base, BaseRepo) else None
    return None
