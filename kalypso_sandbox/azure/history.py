"""The heads of branches over time, and broken commits, as clusters see them.

This module stores nothing: pushes are events of the store, and git has the rest.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from datetime import datetime

from kalypso_actions.model.urls import repository_key
from kalypso_sandbox.azure.clusters import Failure
from kalypso_sandbox.store import Repository, Store


@dataclass(frozen=True, slots=True)
class Head:
    """A commit, and the time when it became a branch's head."""

    commit: str
    pushed_at: datetime


class RepositoryHistory:
    """The history of a store's repositories. It caches facts that never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._broken: dict[tuple[int, str, str, str], bool] = {}

    def find(self, name: str) -> Repository | None:
        """Return a repository by `owner/name` or the end of a URL; any host matches."""
        return self._store.repository("/".join(repository_key(name).split("/")[-2:]))

    def heads(self, name: str, branch: str) -> list[Head]:
        """Return the heads of a branch, oldest first.

        A head without a push event, as in a repository created with files, counts from its commit
        date. A deleted branch adds no head: clusters keep the last one.
        """
        repository = self.find(name)
        if repository is None:
            return []
        names = {
            full_name.lower() for full_name in (repository.full_name, *repository.former_names)
        }
        heads = [
            Head(event.commit, event.created_at)
            for event in self._store.events
            if event.name == "push"
            and event.ref == f"refs/heads/{branch}"
            and event.repository.lower() in names
            and event.commit
        ]
        git = self._store.git(repository)
        commit = git.head(branch)
        if commit is not None and commit not in (head.commit for head in heads[-1:]):
            moments = [git.commit(commit).committer.date, *(head.pushed_at for head in heads)]
            heads.append(Head(commit, max(moments)))
        return heads

    def is_broken(self, name: str, failure: Failure, commit: str) -> bool:
        """Return whether a commit has a file that matches; an unknown commit has no files."""
        repository = self.find(name)
        if repository is None:
            return False
        key = repository.id, commit, failure.path, failure.text
        if key not in self._broken:
            self._broken[key] = self._has_match(repository, commit, failure)
        return self._broken[key]

    def _has_match(self, repository: Repository, commit: str, failure: Failure) -> bool:
        try:
            files = self._store.git(repository).files(commit)
        except LookupError:
            return False
        wanted = failure.text.encode()
        return any(
            fnmatch.fnmatchcase(path, failure.path) and wanted in content
            for path, content in files.items()
        )
