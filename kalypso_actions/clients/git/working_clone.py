"""Write commits to a user's clone without disturbing its work tree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.commits import REF, Signature, fast_import
from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, check_branch
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError, Location, UsageError

NO_COMMIT: Final = "0" * 40
MESSAGE: Final = "kalypso init"
"""The message in the reflog of a moved branch."""


class WorkingClone(GitRepository):
    """A clone with a work tree on this machine.

    Its owner's git configuration applies: the author, and the format of files in the work tree.
    """

    def __init__(self, folder: Path, programs: Programs) -> None:
        """Raises UsageError if the folder is not a clone with a work tree."""
        if not (folder / ".git").exists():
            raise UsageError(
                f"{folder} is not a clone of a repository",
                advice="name the folder that git clone has created",
            )
        super().__init__(folder, programs, trust_user_config=True)
        self.folder = folder

    @property
    def origin(self) -> str:
        """The URL of origin; "" without one."""
        return self._query("config", "--get", "remote.origin.url")

    def main_branch(self, preferred: str) -> str:
        """Return the branch of origin's HEAD, else `preferred` if it exists, else HEAD's branch.

        Raises UsageError if HEAD is detached.
        """
        branch = self._default_of_origin()
        if not branch:
            branch = preferred if self.head(preferred) else self.checked_out
        if not branch:
            raise UsageError(
                "no branch is checked out", Location(self.repository), "check main out"
            )
        return branch

    def head(self, branch: str) -> str:
        """Return the commit of a branch, the clone's own or origin's; "" if neither exists."""
        check_branch(branch, self.repository)
        return self._head(branch)

    def files(self, commit: str) -> GitFiles:
        """Return the files of a commit."""
        return GitFiles(self._git, self._git_dir, self.repository, commit)

    def check_clean(self) -> None:
        """Raises UsageError if the work tree has uncommitted changes."""
        changes = self._run(*self._work_tree, "status", "--porcelain", "--untracked-files=no")
        if changes:
            raise UsageError(
                "the work tree has uncommitted changes",
                Location(self.repository),
                "commit or stash them first",
            )

    def commit(
        self,
        parent: str,
        changes: Mapping[str, bytes | None],
        message: str,
        author: Signature,
        date: datetime,
    ) -> str:
        """Make a commit on `parent` ("": a root commit) and return its id; no branch moves.

        The author is git's `user.name` and `user.email` if they are set, else `author`.
        """
        stream = fast_import(parent or None, changes, message, self._owner() or author, date)
        commit = self._run("fast-import", "--quiet", "--force", stdin=stream).decode().strip()
        self._run("update-ref", "-d", REF)
        return commit

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Fast-forward a branch to a commit; if it is checked out, update the work tree.

        `expected` is the earlier result of `head`. Raises KalypsoError if the branch has moved
        since, if an untracked file is in the way, or if another work tree has the branch.
        """
        check_branch(branch, self.repository)
        if branch == self.checked_out:
            # git merge itself refuses to lose changes.
            self._run(*self._work_tree, "merge", "--quiet", "--ff-only", commit)
            return
        worktrees = self._run("worktree", "list", "--porcelain").decode("utf-8", "replace")
        if f"branch refs/heads/{branch}" in worktrees.splitlines():
            raise KalypsoError(
                f"the branch {branch!r} is checked out in another work tree",
                Location(self.repository),
                "check another branch out there",
            )
        own = self._commit(f"refs/heads/{branch}")
        if own and own != expected:
            message = f"the branch {branch!r} has moved during this run"
            raise KalypsoError(message, Location(self.repository), "run again")
        reference = f"refs/heads/{branch}"
        self._run("update-ref", "-m", MESSAGE, reference, commit, own or NO_COMMIT)

    @property
    def _work_tree(self) -> tuple[str, ...]:
        return (f"--work-tree={self.folder.absolute()}",)

    def _owner(self) -> Signature | None:
        name = self._query("config", "--get", "user.name")
        address = self._query("config", "--get", "user.email")
        return Signature(name, address) if name and address else None

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
