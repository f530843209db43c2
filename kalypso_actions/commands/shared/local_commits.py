"""Commit to a branch of a repository on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kalypso_actions.clients.git import GitFiles, Signature, WritableRepository, is_repository
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.paths import PathAtBranch
from kalypso_actions.model.object_ids import FileContent

AUTHOR: Final = Signature("Kalypso", "kalypso@noreply.invalid")
"""The author in repositories that name none, with an address that nobody can own."""


@dataclass(frozen=True, slots=True)
class LocalBranch:
    """The branch of `--commit-to` at `head`, "" if it does not exist yet."""

    repository: WritableRepository
    name: str
    head: str

    @classmethod
    def open(cls, given: PathAtBranch, programs: Programs) -> LocalBranch:
        """Open a branch. Raises UsageError for a path that is no repository."""
        if not (given.path.is_dir() and is_repository(given.path)):
            raise UsageError(
                f"--commit-to {given.path}: there is no such repository",
                advice="git init --bare creates one",
            )
        # The author and the credentials are those of the user's own git.
        repository = WritableRepository(given.path, programs, trust_user_config=True)
        return cls(repository, given.branch, repository.own_head(given.branch))

    def files(self) -> GitFiles | None:
        """Return the files of the branch; None if it does not exist."""
        return self.repository.files(self.head, sizes=False) if self.head else None

    def written_tree(self, folder: str) -> str:
        """Return the id of the last tree that a run has written to a folder; "" without one."""
        return self.repository.setting(self._setting(folder))

    def record_tree(self, folder: str, tree_id: str) -> None:
        """Record the id of a tree that this run has written."""
        self.repository.set(self._setting(folder), tree_id)

    def _setting(self, folder: str) -> str:
        return f"kalypso.{self.name}:{folder}.tree"

    def commit(
        self,
        changes: Mapping[str, FileContent | None],
        message: str,
        date: datetime | None = None,
        author: Signature | None = None,
        parent: str = "",
        earlier: Sequence[Mapping[str, FileContent | None]] = (),
        *,
        is_root: bool = False,
    ) -> str:
        """Add a commit to the branch, after others with `earlier` changes; return the last one.

        `is_root`: these commits replace those of the branch.

        There is no checkout. By default, the `date` is now, and the `author` the repository's
        owner. A new branch begins at `parent` ("": at nothing). Raises KalypsoError if the branch
        has moved or is checked out.
        """
        author = author or self.repository.owner() or AUTHOR
        start = "" if is_root else self.head or parent
        commit = self.repository.commit(start, changes, message, author, date, earlier)
        self.repository.move(self.name, commit, self.head)
        return commit
