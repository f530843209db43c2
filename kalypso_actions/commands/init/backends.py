"""Read and write a repository: by fetch and push, or in a clone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kalypso_actions.clients.git import ProtectedBranchError, RemoteRepositories
from kalypso_actions.clients.git.working_clone import WorkingClone
from kalypso_actions.clients.github import GitHub
from kalypso_actions.commands.shared.carry_out import own_signature
from kalypso_actions.commands.shared.local_commits import AUTHOR
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import RevisionFiles


class Backend(Protocol):
    """Reads and writes one repository: it makes a commit first, and then moves a branch to it."""

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Return the heads of those of the branches that exist. Raises KalypsoError."""

    def files(self, commit: str) -> RevisionFiles:
        """Return the files of a branch's head. Raises KalypsoError."""

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Commit on top of `parent` ("": no parent), without a branch. Raises KalypsoError."""

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move a branch from `expected` ("": missing) to a commit. Raises KalypsoError."""


@dataclass(frozen=True, slots=True)
class RemoteBackend:
    """A repository on the GitHub server."""

    github: GitHub
    remotes: RemoteRepositories
    name: str
    url: str
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Ask the server."""
        return self.remotes.heads(self.url, branches)

    def files(self, commit: str) -> RevisionFiles:
        """Fetch the commit."""
        return self.remotes.fetch(self.url, commit=commit)

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Commit on this machine; `move` pushes it."""
        return self.remotes.commit(
            self.url,
            parent=parent or None,
            changes=changes,
            message=message,
            author=own_signature(self.github, self.name),
            date=self.now(),
        )

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Push, if the branch is still at `expected`."""
        try:
            self.remotes.push(self.url, commit, branch=branch, expected=expected or None)
        except ProtectedBranchError as error:
            problem = error.problem
            advice = f"{problem.advice}; or use --pull-request"
            raise KalypsoError(problem.message, problem.where, advice) from error


@dataclass(frozen=True, slots=True)
class CloneBackend:
    """A clone, whose commits people push themselves."""

    clone: WorkingClone
    now: Callable[[], datetime]

    def heads(self, branches: Collection[str]) -> Mapping[str, str]:
        """Read local branches, else the fetched ones of origin."""
        return {branch: head for branch in branches if (head := self.clone.head(branch))}

    def files(self, commit: str) -> RevisionFiles:
        """Read the clone's objects."""
        return self.clone.files(commit)

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Commit in the name of the clone's user."""
        return self.clone.commit(parent, changes, message, AUTHOR, self.now())

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move the local branch, and the work tree if the branch is checked out."""
        self.clone.move(branch, commit, expected)
