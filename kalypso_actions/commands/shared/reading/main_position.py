"""The commit of main that an environment has, and how far main is ahead of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Set

from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import Finding, KalypsoError, Problem
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo, RepositoryPath
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key


def main_position(snapshot: Snapshot, reader: Reader) -> BranchPosition | None:
    """Return the position of the commit of main that a snapshot uses.

    None if the environment has no BaseRepo named main, or reads a folder without commits.
    """
    for base, reading in snapshot.bases:
        if base.name == MAIN_BASE_REPO and reading.revision.commit:
            source = base.source
            return reader.repositories.position(source.repo, source.branch, reading.revision.commit)
    return None


def with_changes_of_main(
    findings: Iterable[Finding],
    snapshot: Snapshot,
    position: BranchPosition | None,
    reader: Reader,
) -> tuple[Finding, ...]:
    """Advise to promote the commit of main that has changed the file of an error or warning.

    Without this advice, people correct main, but render again with the environment's old commit.
    """
    findings = tuple(findings)
    base = next((base for base, _ in snapshot.bases if base.name == MAIN_BASE_REPO), None)
    if base is None or position is None or position.fault or position.ahead == 0:
        return findings
    commit = position.commit
    shown = (item for item in findings if item.level != "note" and not item.reason)
    places = {item.where for item in shown if item.where and item.where.commit == commit}
    if not places:
        return findings
    try:
        changed = _changed_paths(base.source, position.commit, reader)
    except KalypsoError:
        return findings  # the environment does not need the head of main
    branch = position.branch
    advice = f"{branch} has changed this file since: promote it, or try --base-commit {branch}"
    return tuple(
        dataclasses.replace(item, advice="\n".join(filter(None, (item.advice, advice))))
        if item.where and item.where.commit == commit and item.where.path in changed
        else item
        for item in findings
    )


def _changed_paths(source: RepositoryPath, commit: str, reader: Reader) -> Set[str]:
    """Return the files of a commit that differ at the head of its branch, or are missing there."""
    repositories = reader.repositories
    at_commit = repositories.open(source.repo, branch=source.branch, commit=commit).entries()
    at_head = repositories.open(source.repo, branch=source.branch).entries()
    return {path for path, entry in at_commit.items() if at_head.get(path) != entry}


def position_in_clone(
    reading: Reading, clone: str, repositories: Repositories
) -> BranchPosition | None:
    """Return the position of the commit of main that an environment branch names."""
    base = _base_main(reading)
    if base is None or base.commit is None:
        return None
    return repositories.position(clone, base.source.branch, base.commit)


def absent_commit(
    reading: Reading, position: BranchPosition | None, remotes: Collection[str]
) -> Iterator[Problem]:
    """Warn about a commit that the clone with these remotes lacks, although its main has it."""
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
            base = parse_document(document, Diagnostics())
            return base if isinstance(base, BaseRepo) else None
    return None
