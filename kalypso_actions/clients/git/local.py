"""Repositories on this machine: clones, worktrees and bare repositories."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.object_ids import is_commit_id

# As `git check-ref-format` has it, and nothing that looks like an option, or is no text.
NO_BRANCH: Final = re.compile(
    r"^[-/]|[\x00-\x20\x7f\ud800-\udc7f\udd00-\udfff~^:?*\[\\]"
    r"|\.\.|//|/\.|^\.|@\{|\.lock(/|$)|[/.]$|^@?$"
)


def is_repository(path: Path) -> bool:
    """Whether `path` itself is a clone, a worktree or a bare repository (not a folder in one)."""
    return (path / ".git").exists() or _is_bare(path)


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def check_branch(branch: str, repository: str) -> None:
    """Refuse what cannot be a branch. Raises KalypsoError."""
    if NO_BRANCH.search(branch):
        raise KalypsoError(f"{branch!r} is not the name of a branch", Location(repository))


def check_commit(commit: str, repository: str) -> None:
    """Refuse what is not a full commit id. Raises KalypsoError."""
    if not is_commit_id(commit):
        message = f"{commit!r} is not a commit id"
        advice = "write all 40 hexadecimal digits, in lower case"
        raise KalypsoError(message, Location(repository), advice)


class GitRepository:
    """Commits of a repository on this machine. What is not committed is not seen."""

    def __init__(
        self,
        path: Path,
        programs: Programs,
        *,
        repository: str = "",
        trust_user_config: bool = False,
    ) -> None:
        """`repository` is how the user names it (default: the path)."""
        self.repository = repository or str(path)
        if not is_repository(path):
            raise KalypsoError("this is not a git repository", Location(self.repository))
        self._git = Git(programs, trust_user_config=trust_user_config)
        self._git_dir = (path / ".git" if (path / ".git").exists() else path).absolute()

    def default_branch(self) -> str:
        """The branch of origin's HEAD in a clone, else the one that HEAD stands on.

        Raises KalypsoError when HEAD stands on none.
        """
        branch = self._default_of_origin() or self.checked_out
        if not branch:
            raise KalypsoError(
                "the repository's HEAD is on no branch, so its default branch is not known",
                Location(self.repository),
                "check a branch out, or name the branch",
            )
        return branch

    @property
    def checked_out(self) -> str:
        """The branch that HEAD stands on, which may have no commit yet; "" for none."""
        return self._ask("symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")

    def has_branch(self, branch: str) -> bool:
        """Whether `at_branch` would find it."""
        return not NO_BRANCH.search(branch) and self._head(branch) != ""

    def at_branch(self, branch: str) -> GitFiles:
        """The head of a branch: the clone's own, else origin's. Raises KalypsoError."""
        check_branch(branch, self.repository)
        commit = self._head(branch)
        if commit:
            return GitFiles(self._git, self._git_dir, self.repository, commit)
        near = difflib.get_close_matches(branch, self._branches(), n=1)
        advice = f"is {near[0]!r} meant?" if near else "fetch it first, or check its name"
        raise KalypsoError(f"there is no branch {branch!r}", Location(self.repository), advice)

    def at_commit(self, commit: str) -> GitFiles:
        """A commit by its full id. Raises KalypsoError when the repository does not have it."""
        check_commit(commit, self.repository)
        if self._commit(commit) != commit:
            message = f"the commit {commit} is not in the repository"
            raise KalypsoError(message, Location(self.repository), "fetch it first")
        return GitFiles(self._git, self._git_dir, self.repository, commit)

    def _default_of_origin(self) -> str:
        """The branch of origin's HEAD; "" without one."""
        found = self._ask("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
        return found.removeprefix("refs/remotes/origin/")

    def _head(self, branch: str) -> str:
        return self._commit(f"refs/heads/{branch}") or self._commit(f"refs/remotes/origin/{branch}")

    def _commit(self, revision: str) -> str:
        return self._ask(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
        )

    def _branches(self) -> list[str]:
        names = self._git.run(
            self._git_dir,
            ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads", "refs/remotes/origin"],
        )
        return [name.removeprefix("origin/") for name in names.decode("utf-8", "replace").split()]

    def _ask(self, *arguments: str) -> str:
        """One line of git, "" where it has no answer (exit code 1, or 128 for a lost object)."""
        try:
            return self._git.run(self._git_dir, arguments).decode("utf-8", "replace").strip()
        except ProcessError as error:
            if error.status == 1:
                return ""
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
