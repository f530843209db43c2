"""A person's own clone: commits of ours on its branches, and a work tree that is not disturbed."""

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
"""What the reflog of a moved branch says."""


class WorkingClone(GitRepository):
    """A clone with a work tree on this machine.

    Its owner's git configuration holds: who commits, and how files of the work tree are written.
    """

    def __init__(self, folder: Path, programs: Programs) -> None:
        """Raises UsageError for a folder that is no clone with a work tree."""
        if not (folder / ".git").exists():
            raise UsageError(
                f"{folder} is not a clone of a repository",
                advice="name the folder that git clone has made",
            )
        super().__init__(folder, programs, trust_user_config=True)
        self.folder = folder

    @property
    def origin(self) -> str:
        """The URL that it was cloned from; "" without one."""
        return self._ask("config", "--get", "remote.origin.url")

    def main_branch(self, preferred: str) -> str:
        """The branch of origin's HEAD; else `preferred` where it exists; else the one checked out.

        Raises UsageError where none is checked out.
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
        """The commit of a branch: the clone's own, else origin's; "" where neither has it."""
        check_branch(branch, self.repository)
        return self._head(branch)

    def files(self, commit: str) -> GitFiles:
        """The files of a commit."""
        return GitFiles(self._git, self._git_dir, self.repository, commit)

    def check_clean(self) -> None:
        """Raises UsageError where the work tree has changes that are not committed."""
        changed = self._run(*self._work_tree, "status", "--porcelain", "--untracked-files=no")
        if changed:
            raise UsageError(
                "the work tree has changes that are not committed",
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
        """Make a commit on top of `parent` ("": of nothing) and return its id; no branch moves.

        It is by the clone's owner, where git knows who that is, else by `author`.
        """
        stream = fast_import(parent or None, changes, message, self._owner() or author, date)
        made = self._run("fast-import", "--quiet", "--force", stdin=stream).decode().strip()
        self._run("update-ref", "-d", REF)
        return made

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Set a branch to a commit that descends from where it stands; with it, the work tree.

        `expected` is what `head` has said. Raises KalypsoError where the branch has moved since, a
        file that git does not know is in the way, or another work tree has the branch.
        """
        check_branch(branch, self.repository)
        if branch == self.checked_out:
            # Refuses by itself what would lose anything.
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
            message = f"the branch {branch!r} has moved meanwhile"
            raise KalypsoError(message, Location(self.repository), "run again")
        reference = f"refs/heads/{branch}"
        self._run("update-ref", "-m", MESSAGE, reference, commit, own or NO_COMMIT)

    @property
    def _work_tree(self) -> tuple[str, ...]:
        return (f"--work-tree={self.folder.absolute()}",)

    def _owner(self) -> Signature | None:
        name = self._ask("config", "--get", "user.name")
        address = self._ask("config", "--get", "user.email")
        return Signature(name, address) if name and address else None

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
