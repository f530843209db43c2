"""What clusters see of the world's repositories: where branches stood when, and what broke them.

Nothing of it is stored here: pushes are events of the world, and everything else is in git.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from datetime import datetime

from kalypso_actions.model.urls import repository_key
from kalypso_actions.sandbox.azure.clusters import Failure
from kalypso_actions.sandbox.store import Repository, Store


@dataclass(frozen=True, slots=True)
class Head:
    """A commit that a branch stood at, from when on."""

    commit: str
    pushed_at: datetime


class RepositoryHistory:
    """The repositories of a world; remembers of commits what can never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._broken: dict[tuple[int, str, str, str], bool] = {}

    def find(self, name: str) -> Repository | None:
        """By `owner/name`, or by the end of a URL in any form: it may name any host."""
        try:
            key = repository_key(name)
        except ValueError:  # no URL at all, which no cluster can follow
            return None
        return self._store.repository("/".join(key.split("/")[-2:]))

    def heads(self, name: str, branch: str) -> list[Head]:
        """Where a branch stood, oldest first, by the pushes to it.

        A head that no push tells of (a repository that was given its files) counts from the date
        of its commit. A deleted branch leaves nothing newer: clusters keep what they have.
        """
        repository = self.find(name)
        if repository is None:
            return []
        names = {one.lower() for one in (repository.full_name, *repository.former_names)}
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
        """Whether a commit has a file that matches; a commit that is not here has none."""
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
