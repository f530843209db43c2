"""Bare git repositories of the sandbox: commits, branches, merges, by the git program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import Programs


@dataclass(frozen=True, slots=True)
class Person:
    """An author or committer, and when."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True, slots=True)
class GitCommit:
    """A commit as git has it."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: Person
    committer: Person


class BareRepository:
    """One bare repository. Unknown ids and refs are None or raise LookupError, as told."""

    def __init__(self, git_dir: Path, programs: Programs) -> None:
        self.git_dir = git_dir
        self._git = Git(programs)

    def create(self, default_branch: str) -> None:
        """Make the directory, ready to serve partial and shallow clones and commits by id."""
        raise NotImplementedError

    def refs(self) -> Mapping[str, str]:
        """Every full ref name -> object id."""
        raise NotImplementedError

    def head(self, branch: str) -> str | None:
        """The commit at a branch's head."""
        raise NotImplementedError

    def commit(self, revision: str) -> GitCommit:
        """A commit by id, branch or tag. Raises LookupError."""
        raise NotImplementedError

    def files(self, revision: str) -> Mapping[str, bytes]:
        """Every file of a commit. Raises LookupError."""
        raise NotImplementedError

    def tree_id(self, revision: str, path: str) -> str | None:
        """The object id of a folder in a commit; "" is the root."""
        raise NotImplementedError

    def merge_base(self, first: str, second: str) -> str | None:
        """The best common ancestor."""
        raise NotImplementedError

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether the first is reachable from the second (a commit is its own ancestor)."""
        raise NotImplementedError

    def commits_between(self, base: str, head: str) -> Sequence[GitCommit]:
        """Commits reachable from head and not from base, oldest first."""
        raise NotImplementedError

    def changed_paths(self, base: str, head: str) -> Mapping[str, str]:
        """Path -> `added`, `modified` or `removed`."""
        raise NotImplementedError

    def merge_tree(self, base: str, head: str) -> str | None:
        """The tree of head merged into base; None where they conflict."""
        raise NotImplementedError

    def make_commit(
        self, tree: str, parents: Sequence[str], message: str, author: Person, committer: Person
    ) -> str:
        """Write a commit object and return its id."""
        raise NotImplementedError

    def commit_files(
        self, branch: str, changes: Mapping[str, str | bytes | None], message: str, author: Person
    ) -> str:
        """Commit on a branch (a new one begins empty), None deletes; returns the commit's id."""
        raise NotImplementedError

    def update_ref(self, ref: str, new: str | None, old: str | None) -> bool:
        """Set or (None) delete a full ref if it still stands at `old`; whether it did."""
        raise NotImplementedError
