"""Write commits to a repository on this machine, without a checkout and without a push."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from kalypso_actions.clients.git.commits import (
    FAST_IMPORT,
    REF,
    WRITING,
    Signature,
    fast_import,
    import_blobs,
)
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, check_branch
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import WriteBlobs

REFLOG_MESSAGE: Final = "kalypso"
"""The message in the reflog of a moved branch."""


class WritableRepository(GitRepository):
    """A clone or a bare repository."""

    def own_head(self, branch: str) -> str:
        """Return the commit of a branch of the repository itself; "" if it does not exist."""
        check_branch(branch, self.repository)
        return self._commit(f"refs/heads/{branch}")

    def files(self, commit: str, *, sizes: bool = True) -> GitFiles:
        """Return the files of a commit."""
        return GitFiles(self._git, self._git_dir, self.repository, commit, sizes=sizes)

    def owner(self) -> Signature | None:
        """Return git's `user.name` and `user.email` as an author; None unless both are set."""
        name = self._query("config", "--get", "user.name")
        address = self._query("config", "--get", "user.email")
        return Signature(name, address) if name and address else None

    def commit(
        self,
        parent: str,
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime | None = None,
    ) -> str:
        """Make a commit on `parent` ("": a root commit) and return its id; no branch moves.

        By default, the `date` is now.
        """
        date = date or datetime.now(UTC)
        stream = fast_import(parent or None, changes, message, author, date, self._list_folders)
        commit = self._write(*FAST_IMPORT, stdin=stream).decode().strip()
        self._write("update-ref", "-d", REF)
        return commit

    def _list_folders(self, commit: str, path: str) -> Collection[str]:
        return self.files(commit).folder_ids(path)

    def blob_writer(self) -> WriteBlobs | None:
        """Return a function that writes blobs for a commit; None unless their ids are SHA-1.

        Blobs that no commit uses are garbage, which git removes itself.
        """
        has_sha1 = self._query("rev-parse", "--show-object-format") == "sha1"
        return self._write_blobs if has_sha1 else None

    def _write_blobs(self, contents: Iterable[bytes]) -> None:
        self._write(*FAST_IMPORT, stdin=import_blobs(contents), timeout=WRITING)

    def setting(self, name: str) -> str:
        """Return a setting of git, "" without one. No push can change it."""
        return self._query("config", "--local", "--default", "", "--get", name)

    def set(self, name: str, value: str) -> None:
        """Set a setting of this repository. Raises KalypsoError."""
        self._write("config", "--local", name, value)

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move a branch from `expected` to a commit; create the branch if `expected` is "".

        Raises KalypsoError if the branch has moved, or if it is checked out in a work tree, whose
        files would then differ.
        """
        check_branch(branch, self.repository)
        reference = f"refs/heads/{branch}"
        worktrees = self._write("worktree", "list", "--porcelain").decode("utf-8", "replace")
        if f"branch {reference}" in worktrees.splitlines():
            raise KalypsoError(
                f"the branch {branch!r} is checked out in a work tree",
                Location(self.repository),
                "check another branch out there",
            )
        if self._commit(reference) != expected:
            message = f"the branch {branch!r} has moved during this run"
            raise KalypsoError(message, Location(self.repository), "run again")
        # An empty old value means that the branch must not exist.
        self._write("update-ref", "-m", REFLOG_MESSAGE, reference, commit, expected)

    def _write(
        self, *arguments: str, stdin: bytes | Iterable[bytes] = b"", timeout: float = 600
    ) -> bytes:
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin, timeout=timeout)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
