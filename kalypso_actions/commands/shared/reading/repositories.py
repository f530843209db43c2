"""Open the repositories of one run: given paths first, then the network."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from kalypso_actions.clients.git import (
    GitRepository,
    RemoteRepositories,
    is_path,
    is_repository,
)
from kalypso_actions.clients.git.history import TreePlace
from kalypso_actions.clients.git.local import local_files
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.documents import RevisionFiles
from kalypso_actions.model.history import BranchPosition, HistoryCommit
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import repository_key

MAIN_BRANCH = "main"


class Repositories:
    """Opens a repository by URL or path at a branch or commit.

    It never fetches a given source. A given plain folder replaces any branch or commit.
    """

    def __init__(
        self,
        given: Iterable[Source],
        remotes: RemoteRepositories,
        programs: Programs,
        *,
        check: Callable[[str], None] | None = None,
        clones: Callable[[], Mapping[str, Path]] = dict,
    ) -> None:
        """`check` raises KalypsoError for refused URLs; if it is given, paths are not repositories.

        `clones` returns clones by the URLs of their remotes; the network has the commits that a
        clone lacks.
        """
        self._given = {(source.key, source.branch): source for source in given}
        self._find_clones = clones
        self._known_clones: Mapping[str, Path] | None = None
        self._remotes = remotes
        self._programs = programs
        self._check = check

    def check(self, url: str) -> None:
        """Refuse a repository that may not be read. Raises KalypsoError."""
        if self._check:
            self._check(url)

    def open(self, url: str, *, branch: str = "", commit: str | None = None) -> RevisionFiles:
        """Return the files of `commit`, or else of `branch`, or else of the default branch.

        Raises KalypsoError.
        """
        self.check(url)
        with _explaining(url):
            folder = self._folder(url, branch)
            if folder is None:
                local = self._clone_with(url, branch, commit)
            elif not folder.is_dir():
                raise KalypsoError(
                    f"{folder} is not a folder", advice=f"check the PATH of --source {url}"
                )
            elif is_repository(folder):
                local = GitRepository(folder, self._programs, repository=url)
            else:
                return local_files(folder, self._programs, repository=url)
            if local is not None:
                return (
                    local.at_commit(commit)
                    if commit
                    else local.at_branch(branch or local.default_branch())
                )
        return self._remotes.fetch(url, branch=branch, commit=commit or "")

    def is_at_hand(self, url: str, branch: str) -> bool:
        """Whether a repository is on this machine, as a given source or by its path."""
        key = repository_key(url)
        given = (key, branch) in self._given or (key, "") in self._given
        return given or self._is_path(url)

    def main_branch(self, url: str) -> str:
        """Return `main` if it exists, else the branch that HEAD names."""
        self.check(url)
        if not self._is_path(url):
            return self._remotes.default_branch(url, preferred=MAIN_BRANCH)
        with _explaining(url):
            path = _existing(url)
            if not is_repository(path):
                advice = "name a clone or a bare repository, or use --environment-dir for a folder"
                raise UsageError(f"{url} is not a git repository", advice=advice)
            repository = GitRepository(path, self._programs, repository=url)
            if repository.has_branch(MAIN_BRANCH):
                return MAIN_BRANCH
            return repository.default_branch()

    def resolve(self, url: str, branch: str, revision: str) -> str:
        """Return the commit of a branch, a tag or an id of the repository that `open` reads.

        Raises KalypsoError.
        """
        self.check(url)
        if is_commit_id(revision):
            return revision
        folder = self._folder(url, branch)
        if folder is None:
            clone = self._clones().get(repository_key(url))
            if clone is None:
                return self._remotes.resolve(url, revision, branch=branch)
            return self._of_clone_or_remote(clone, url, branch, revision)
        if is_repository(folder):
            return GitRepository(folder, self._programs, repository=url).resolve(revision)
        message = f"{revision!r} is not a commit id, and {folder} is a folder without commits"
        raise UsageError(message, Location(url), "write the whole id, or name a clone")

    def _of_clone_or_remote(self, clone: Path, url: str, branch: str, revision: str) -> str:
        """Return a commit of the clone, or else of its remote, which may have more commits."""
        try:
            return GitRepository(clone, self._programs, repository=url).resolve(revision)
        except KalypsoError as missing:
            try:
                return self._remotes.resolve(url, revision, branch=branch)
            except KalypsoError as error:
                raise KalypsoError.of([*missing.problems, *error.problems]) from error

    def has_history(self, url: str, commit: str) -> bool:
        """Whether a clone on this machine has the commit, so that its position costs no request."""
        self.check(url)
        folder = self._folder(url, "")
        if folder is None:
            return self._clone_with(url, "", commit) is not None
        return is_repository(folder)

    def position(self, url: str, branch: str, commit: str) -> BranchPosition | None:
        """Return the position of a commit on its branch; None for a folder without commits."""
        self.check(url)
        folder = self._folder(url, branch)
        try:
            if folder is None:
                local = self._clone_with(url, "", commit)
            elif is_repository(folder):
                local = GitRepository(folder, self._programs, repository=url)
            else:
                return None
            if local is not None and not local.has_commit(commit):
                fault = "because this clone lacks the commit"
                return BranchPosition(branch, commit, "", None, fault)
            if local is not None:
                ahead = local.ahead(branch, commit)
                is_unknown = ahead is None and local.is_shallow
                fault = "because this clone is shallow" if is_unknown else ""
                return BranchPosition(branch, commit, local.subject(commit), ahead, fault)
            subject = self._remotes.fetch(url, commit=commit).subject()
            head = self._remotes.heads(url, [branch]).get(branch)
            if head is None or head == commit:
                return BranchPosition(branch, commit, subject, None if head is None else 0)
            newer = self._remotes.ancestry(url, head).since(commit)
            return BranchPosition(branch, commit, subject, None if newer is None else len(newer))
        except KalypsoError as error:
            return BranchPosition(branch, commit, "", None, error.problem.message)

    def distance(self, url: str, base: str, head: str) -> int | None:
        """Return the number of commits that `head` has and `base` lacks; None if it is unknown."""
        self.check(url)
        folder = self._folder(url, "")
        try:
            if folder is not None:
                local = GitRepository(folder, self._programs, repository=url)
                return local.distance(base, head)
            newer = self._remotes.ancestry(url, head).since(base)
            return None if newer is None else len(newer)
        except KalypsoError:
            return None

    def commits_after(self, url: str, base: str, head: str, most: int) -> tuple[CommitSubject, ...]:
        """Return the newest commits that `head` has and `base` lacks. Raises KalypsoError.

        For a repository that is not on this machine, return only commits on the first-parent line.
        """
        self.check(url)
        folder = self._folder(url, "")
        if folder is not None:
            local = GitRepository(folder, self._programs, repository=url)
            return local.commits_after(base, head, most)
        newer = frozenset(self._remotes.ancestry(url, head).since(base) or ())
        line = itertools.islice(self._remotes.history(url, head), most)
        return tuple(
            CommitSubject(commit.id, commit.message.partition("\n")[0])
            for commit in itertools.takewhile(lambda item: item.id in newer, line)
        )

    def history(
        self, url: str, branch: str, most: int, commit: str = ""
    ) -> Iterator[HistoryCommit]:
        """Yield the newest commits of a branch's first-parent line; nothing if it does not exist.

        With a `commit` of the branch, the line of that commit.
        Raises KalypsoError, also for a folder without commits.
        """
        local = self._local(url, branch)
        if local is not None:
            return (
                local.history(commit or local.resolve(branch), most)
                if local.has_branch(branch)
                else iter(())
            )
        head = commit or self._remotes.heads(url, [branch]).get(branch)
        return itertools.islice(self._remotes.history(url, head), most) if head else iter(())

    def trees(self, url: str, branch: str, places: Sequence[TreePlace]) -> Mapping[TreePlace, str]:
        """Return the tree ids of folders at commits of the `history` that was read.

        A folder that does not exist is left out. Raises KalypsoError.
        """
        local = self._local(url, branch)
        return local.trees(places) if local else self._remotes.trees(url, places)

    def blobs(self, url: str, branch: str, ids: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents of files of the `history` that was read. Raises KalypsoError."""
        local = self._local(url, branch)
        return local.blobs(ids) if local else self._remotes.blobs(url, ids)

    def ancestors(self, url: str, branch: str, commit: str) -> Set[str]:
        """Return a commit of a branch and all its ancestors. Raises KalypsoError."""
        local = self._local(url, branch)
        return (
            local.ancestors(commit) if local else self._remotes.ancestry(url, commit).parents.keys()
        )

    def _local(self, url: str, branch: str) -> GitRepository | None:
        """Return the repository on this machine that has the branch, if any."""
        self.check(url)
        folder = self._folder(url, branch)
        if folder is None:
            return self._clone_with(url, branch, None)
        return GitRepository(folder, self._programs, repository=url)

    def _clones(self) -> Mapping[str, Path]:
        if self._known_clones is None:
            self._known_clones = {
                repository_key(url): path for url, path in self._find_clones().items()
            }
        return self._known_clones

    def _folder(self, url: str, branch: str) -> Path | None:
        """Return the folder to read instead of the network, if any."""
        key = repository_key(url)
        source = self._given.get((key, branch)) or self._given.get((key, ""))
        if source is not None:
            return source.path
        return _existing(url) if self._is_path(url) else None

    def _clone_with(self, url: str, branch: str, commit: str | None) -> GitRepository | None:
        """Return the clone of a URL if it has the commit or branch."""
        path = self._clones().get(repository_key(url))
        if path is None:
            return None
        clone = GitRepository(path, self._programs, repository=url)
        has_it = clone.has_commit(commit) if commit else clone.has_branch(branch)
        return clone if has_it else None

    def _is_path(self, url: str) -> bool:
        """Whether a URL is a path. Jobs read no folders: a control plane must not name them."""
        return self._check is None and is_path(url)


def _existing(path: str) -> Path:
    if not path:
        raise KalypsoError("no repository is named", advice="write its URL")
    if not Path(path).is_dir():
        message = "there is no such folder, and it is not the URL of a repository"
        raise KalypsoError(message, Location(path), "check the path, from the current folder")
    return Path(path)


@contextmanager
def _explaining(url: str) -> Iterator[None]:
    """Raise KalypsoError for an OSError."""
    try:
        yield
    except OSError as error:
        message = f"cannot be read: {error.strerror} ({error.filename})"
        raise KalypsoError(message, Location(url)) from error
