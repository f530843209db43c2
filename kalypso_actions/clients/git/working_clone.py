"""Write commits to a user's clone without disturbing its work tree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from kalypso_actions.clients.git.commits import Signature
from kalypso_actions.clients.git.local import check_branch
from kalypso_actions.clients.git.writable_repository import WritableRepository
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.object_ids import FileContent


class WorkingClone(WritableRepository):
    """A clone with a work tree on this machine.

    Its owner's git configuration applies: the author, and the format of files in the work tree.
    """

    def __init__(self, folder: Path, programs: Programs) -> None:
        """Raise UsageError if the folder is not a clone with a work tree."""
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

    def check_clean(self) -> None:
        """Raise UsageError if the work tree has uncommitted changes."""
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
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime | None = None,
    ) -> str:
        """Make a commit; the author is the clone's owner if git knows one, else `author`."""
        return super().commit(parent, changes, message, self.owner() or author, date)

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Fast-forward a branch to a commit; if it is checked out, update the work tree.

        `expected` is the earlier result of `head`. Raises KalypsoError if the branch has moved
        since, if an untracked file is in the way, or if another work tree has the branch.
        """
        if branch == self.checked_out:
            # git merge itself refuses to lose changes.
            self._run(*self._work_tree, "merge", "--quiet", "--ff-only", commit)
            return
        own = self.own_head(branch)
        super().move(branch, commit, expected if own else "")

    @property
    def _work_tree(self) -> tuple[str, ...]:
        return (f"--work-tree={self.folder.absolute()}",)
