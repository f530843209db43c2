"""Where the repositories of one run are: given paths first, then the network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository, RemoteRepositories, is_repository
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.urls import repository_key

DEFAULT_BRANCH = "main"


@dataclass(frozen=True, slots=True)
class GivenSource:
    """A path that stands for a URL, on one branch of it ("" for all)."""

    url: str
    branch: str
    path: Path


class Repositories:
    """Opens a repository by URL or path at a branch or commit.

    What is given is never looked for on the network. A given plain folder stands for whatever
    branch or commit is asked of it.
    """

    def __init__(
        self, given: Iterable[GivenSource], remotes: RemoteRepositories, programs: Programs
    ) -> None:
        self._given = {(repository_key(source.url), source.branch): source for source in given}
        self._remotes = remotes
        self._programs = programs

    def open(self, url: str, *, branch: str = "", commit: str | None = None) -> RevisionFiles:
        """The files of `commit`, else of `branch`, else of the default branch.

        Raises KalypsoError saying what to change.
        """
        key = repository_key(url)
        source = self._given.get((key, branch)) or self._given.get((key, ""))
        if source is not None:
            return self._open_path(source.path, url, branch, commit)
        if "://" not in url and Path(url).is_dir():
            return self._open_path(Path(url), url, branch, commit)
        return self._remotes.fetch(url, branch=branch, commit=commit or "")

    def default_branch(self, url: str) -> str:
        """`main` where it exists, else the branch that HEAD names."""
        path = Path(url)
        if "://" in url or not path.is_dir():
            return self._remotes.default_branch(url, preferred=DEFAULT_BRANCH)
        if not is_repository(path):
            raise UsageError(
                f"{url} is not a git repository",
                advice="name a clone or a bare repository, or use --environment-dir for a folder",
            )
        repository = GitRepository(path, self._programs, repository=url)
        if repository.has_branch(DEFAULT_BRANCH):
            return DEFAULT_BRANCH
        return repository.default_branch()

    def _open_path(self, path: Path, url: str, branch: str, commit: str | None) -> RevisionFiles:
        if not path.is_dir():
            raise KalypsoError(f"{path} is not a folder", advice=f"it is given for {url}")
        if not is_repository(path):
            return FolderFiles(path, repository=url)
        repository = GitRepository(path, self._programs, repository=url)
        if commit:
            return repository.at_commit(commit)
        return repository.at_branch(branch or repository.default_branch())
