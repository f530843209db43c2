"""The two repositories as init reads and writes them: through the API, or in clones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from kalypso_actions.clients.git import ProtectedBranchError, RemoteRepositories, Signature
from kalypso_actions.clients.git.working_clone import WorkingClone
from kalypso_actions.clients.github import GitHub
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import RevisionFiles

AUTHOR: Final = Signature("Kalypso", "kalypso@users.noreply.github.com")


class Backend(Protocol):
    """One repository; commits are made first, and then branches are moved to them."""

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """The commits of those of the branches that exist. Raises KalypsoError."""

    def files(self, commit: str) -> RevisionFiles:
        """The files of a commit that a branch stands at. Raises KalypsoError."""

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """A commit on top of `parent` ("": of nothing), without a branch. Raises KalypsoError."""

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Set a branch from where it stands ("": it does not exist). Raises KalypsoError."""


@dataclass(frozen=True, slots=True)
class RemoteBackend:
    """A repository on the GitHub server, written by pushes."""

    github: GitHub
    remotes: RemoteRepositories
    name: str
    url: str
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """As the server says now."""
        return self.remotes.heads(self.url, branches)

    def files(self, commit: str) -> RevisionFiles:
        """Fetched."""
        return self.remotes.fetch(self.url, commit=commit)

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Made on this machine; pushed by `move`."""
        return self.remotes.commit(
            self.url,
            parent=parent or None,
            changes=changes,
            message=message,
            author=AUTHOR,
            date=self.now(),
        )

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Push, if the branch stands there still."""
        try:
            self.remotes.push(self.url, commit, branch=branch, expected=expected or None)
        except ProtectedBranchError as error:
            problem = error.problem
            advice = f"{problem.advice}; or use --pull-request"
            raise KalypsoError(problem.message, problem.where, advice) from error


@dataclass(frozen=True, slots=True)
class CloneBackend:
    """A clone: its branches get commits, which people push."""

    clone: WorkingClone
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """The clone's own branches, else origin's as they were fetched."""
        return {branch: head for branch in branches if (head := self.clone.head(branch))}

    def files(self, commit: str) -> RevisionFiles:
        """Of the clone."""
        return self.clone.files(commit)

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """By whom the clone belongs to."""
        return self.clone.commit(parent, changes, message, AUTHOR, self.now())

    def move(self, branch: str, commit: str, expected: str) -> None:
        """The local branch, and the work tree where it is checked out."""
        self.clone.move(branch, commit, expected)
