"""Files of git repositories without a checkout, by the `git` program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from kalypso_actions.clients.process import Programs
from kalypso_actions.model.documents import RevisionFiles


class GitRepository:
    """A local repository: the path of a clone, a worktree or a bare repository."""

    def __init__(self, path: Path, programs: Programs, *, repository: str = "") -> None:
        """`repository` is how the user names it (default: the path)."""

    def default_branch(self) -> str:
        """origin's HEAD in a clone, else HEAD's branch. Raises KalypsoError when there is none."""
        raise NotImplementedError

    def at_branch(self, branch: str) -> RevisionFiles:
        """refs/heads/BRANCH, else refs/remotes/origin/BRANCH. Raises KalypsoError."""
        raise NotImplementedError

    def at_commit(self, commit: str) -> RevisionFiles:
        """A commit by its full id. Raises KalypsoError when it is not in the repository."""
        raise NotImplementedError


def is_repository(path: Path) -> bool:
    """Whether `path` is itself the root of a clone, a worktree or a bare repository."""
    raise NotImplementedError


class RemoteRepositories:
    """Fetches commits of remote repositories, each once; a context manager owning the copies.

    Safe to use from several threads. `credentials`: URL prefix -> value of the HTTP header
    Authorization.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        protocols: frozenset[str] = frozenset({"https"}),
        credentials: Mapping[str, str] | None = None,
        trust_user_config: bool = False,
    ) -> None: ...

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def fetch(self, url: str, *, branch: str = "", commit: str = "") -> RevisionFiles:
        """The branch's head (the default branch's without one), or a commit.

        Within one context a branch is the same commit however often it is asked for.
        Raises KalypsoError saying what to change.
        """
        raise NotImplementedError

    def default_branch(self, url: str) -> str:
        """The name of the branch that the remote's HEAD stands on."""
        raise NotImplementedError
