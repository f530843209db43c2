"""The commits of main that an environment's branch has named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.shared.reading.control_plane import read_base_file
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import Finding, KalypsoError
from kalypso_actions.fleet.named_branches import commit_ahead
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.history import FileVersion, HistoryCommit
from kalypso_actions.model.kinds import BaseRepo, Environment
from kalypso_actions.promotion.base_repo import BaseDocument, base_document
from kalypso_actions.promotion.environments import is_in_circle, previous_of
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.source_tree import YAML_SUFFIXES, normalize, within

CHUNK: Final = 100
LARGEST_CHUNK: Final = 5000
"""One request reads the contents of `CHUNK` commits at first, later of at most `LARGEST_CHUNK`."""

MOST_COMMITS: Final = 2000
"""The commits of an environment's branch in which `passed_commits` looks for promotions."""

FILE_MODES: Final = frozenset({FILE_MODE, "100755"})

OVERRIDE: Final = "Kalypso-Override"
"""The trailer by which cd records that a person has passed over a policy, and why."""


@dataclass(frozen=True, slots=True)
class BaseWrite:
    """A commit of an environment's branch that changes the commit of main that the branch names.

    `promoted_commit` is None if it removes that commit. `author` is the name in the commit, and
    `merged` the commits that it merges.
    """

    environment_commit: str
    promoted_commit: str | None
    at: datetime
    author: str
    message: str = ""
    merged: tuple[str, ...] = ()


def read_base_writes(
    remotes: RemoteRepositories, url: str, head: str, folder: str, main: Container[str]
) -> Iterator[BaseWrite]:
    """Yield the writes on the first-parent line of an environment's branch, newest first.

    `head` is a commit of the branch, and the environment lies in `folder`. `main` are the commits
    of main: the iteration ends there, because main has no BaseRepo. Commits and contents are
    fetched on demand. Raises KalypsoError.
    """
    base = read_base_file(remotes.fetch(url, commit=head), folder)
    path = base.where.path
    document = _document(url, path, base.text.encode()) if base.text else None

    def read_blobs(ids: Collection[str]) -> Mapping[str, bytes]:
        return remotes.blobs(url, ids)

    trail = _Trail(
        url, normalize(folder), path if document else "", base.promoted_commit, read_blobs
    )
    return trail.writes(remotes.history(url, head), main)


def passed_commits(
    environments: Mapping[str, Environment],
    bases: Mapping[str, BaseRepo],
    ahead: Mapping[str, int],
    repositories: Repositories,
    url: str,
    main: str,
    heads: Mapping[str, str] | None = None,
) -> Iterator[Finding]:
    """Yield the finding of each environment with a commit that none before it has ever had.

    `bases` are the BaseRepos named main by environment, and `ahead` how many commits main has that
    the environment lacks. `heads` are commits to read instead of the heads of branches.

    An environment that was rolled back, or that has passed over the commit, has named it or a newer
    one before. A person who overrides a policy with cd says why in the commit. Nothing is said
    where a commit, or the whole history of a branch, is not known, as in a shallow clone.
    """
    for name, base in bases.items():
        before = [each for each in previous_of(name, environments) if each != name]
        own = environments[name]
        if not before or own.is_first or is_in_circle(own, environments) or not base.commit:
            continue
        if not all(each in bases and name in ahead for each in before):
            continue
        if any(ahead[name] >= ahead.get(each, 0) for each in before):
            continue
        position = repositories.position(url, main, base.commit)
        if position is None or position.ahead is None:
            continue  # it is not on main, which is a finding of its own
        try:
            older = repositories.ancestors(url, own.control_plane.branch, base.commit)
            writes = _branch_writes(own, older, repositories, url, (heads or {}).get(name, ""))
            is_meant = writes is not None and any(
                _overrides(write, own, repositories, url)
                for write in writes
                if write.promoted_commit == base.commit
            )
            if not is_meant and all(
                _never_had(base.commit, environments[each], bases[each], older, repositories, url)
                for each in before
            ):
                yield commit_ahead(base, {each: bases[each].commit or "" for each in before})
        except KalypsoError:
            continue  # the finding of the branch that cannot be read says so


def _never_had(
    commit: str,
    before: Environment,
    base: BaseRepo,
    older: Container[str],
    repositories: Repositories,
    url: str,
) -> bool:
    """Whether the branch of an environment has always named `older` commits than this one."""
    writes = _branch_writes(before, older, repositories, url)
    named = {write.promoted_commit for write in writes or ()} | {base.commit}
    return writes is not None and all(
        each is None or (each != commit and each in older) for each in named
    )


def _branch_writes(
    environment: Environment,
    main: Container[str],
    repositories: Repositories,
    url: str,
    head: str = "",
) -> list[BaseWrite] | None:
    """Return all writes on the first-parent line of a branch, down to `main`; None if it is cut."""
    place = environment.control_plane
    files = repositories.open(url, branch=place.branch, commit=head or None)
    base = read_base_file(files, place.path)

    def read_blobs(ids: Collection[str]) -> Mapping[str, bytes]:
        return repositories.blobs(url, place.branch, ids)

    line: list[HistoryCommit] = []
    for commit in repositories.history(url, place.branch, MOST_COMMITS, head):
        if commit.id in main:
            break
        line.append(commit)
    if not line or not (line[-1].parents == () or line[-1].parents[0] in main):
        return None
    trail = _Trail(
        url,
        normalize(place.path),
        base.where.path if base.text else "",
        base.promoted_commit,
        read_blobs,
    )
    return list(trail.writes(iter(line), ()))


def _overrides(
    write: BaseWrite, environment: Environment, repositories: Repositories, url: str
) -> bool:
    """Whether a write, or the commit that it merges, says who has passed over a policy."""
    messages = [write.message]
    for merged in write.merged:
        line = repositories.history(url, environment.control_plane.branch, 1, merged)
        messages += (commit.message for commit in line)
    return any(f"\n{OVERRIDE}: " in message for message in messages)


def _document(url: str, path: str, content: bytes) -> BaseDocument | None:
    """Return the BaseRepo named main in a file; None also for an unreadable file."""
    if b"BaseRepo" not in content:
        return None
    try:
        return base_document(read_objects(url, path, content).documents)
    except KalypsoError:
        return None


class _Trail:
    """Follows the BaseRepo named main from newer commits to older ones, through renames.

    `path` is its file at the next commit, "" for none, and `promoted_commit` the commit of main.
    """

    def __init__(
        self,
        url: str,
        folder: str,
        path: str,
        promoted_commit: str | None,
        read_blobs: Callable[[Collection[str]], Mapping[str, bytes]],
    ) -> None:
        self._url = url
        self._folder = folder
        self._path = path
        self._promoted_commit = promoted_commit
        self._read_blobs = read_blobs
        self._contents: dict[str, bytes] = {}
        self._read: set[str] = set()

    def writes(self, line: Iterator[HistoryCommit], main: Container[str]) -> Iterator[BaseWrite]:
        """Yield the writes of a first-parent line, newest first."""
        size = CHUNK
        while chunk := list(islice(line, size)):
            size = min(4 * size, LARGEST_CHUNK)
            self._contents = {}
            self._read = set()
            for index, commit in enumerate(chunk):
                if not self._path and commit.id in main:
                    return
                before = self._before(chunk, index)
                if before != self._promoted_commit:
                    named = self._promoted_commit
                    yield BaseWrite(
                        commit.id,
                        named,
                        commit.date,
                        commit.author,
                        commit.message,
                        commit.parents[1:],
                    )
                self._promoted_commit = before

    def _before(self, chunk: Sequence[HistoryCommit], index: int) -> str | None:
        """Return the commit of main that the first parent of a commit of the chunk names."""
        commit = chunk[index]
        if self._path and self._path not in commit.changes:
            return self._promoted_commit
        # Older commits of the chunk may change the same file.
        if self._path not in self._read:
            self._need(chunk[index:], self._path)
            self._read.add(self._path)
        document: BaseDocument | None = None
        if self._path:
            document = self._document_at(self._path, commit.changes[self._path].before)
        if document is None:
            self._need([commit])
            document = self._moved(commit)
        self._path = document.path if document else ""
        return document.promoted_commit if document else None

    def _moved(self, commit: HistoryCommit) -> BaseDocument | None:
        """Return the document from its file in the first parent, from which the commit removed it.

        Another environment may share the branch, so a file outside the environment's folder counts
        only if the commit moved the document from there.
        """
        removed = [
            before
            for path, change in commit.changes.items()
            if (self._path or within(path, self._folder))
            and (before := self._document_at(path, change.before))
            and not self._document_at(path, change.after)
        ]
        removed.sort(key=lambda item: (not within(item.path, self._folder), item.path))
        return next(iter(removed), None)

    def _document_at(self, path: str, version: FileVersion | None) -> BaseDocument | None:
        content = self._contents.get(version.object_id) if version else None
        return _document(self._url, path, content) if content else None

    def _need(self, commits: Iterable[HistoryCommit], path: str = "") -> None:
        """Read the versions in these commits of one file, or of all the parents' YAML files."""
        wanted = dict.fromkeys(
            version.object_id
            for commit in commits
            for name, change in commit.changes.items()
            if name == path or (not path and change.before and name.endswith(YAML_SUFFIXES))
            for version in change
            if version and version.mode in FILE_MODES and version.object_id not in self._contents
        )
        if wanted:
            self._contents.update(self._read_blobs(wanted))
