"""The history of a remote repository: commits with their changed files, without blobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.connection import FETCH, Connection
from kalypso_actions.clients.git.files import batch_objects
from kalypso_actions.clients.git.line_log import LineLog, read_line_log
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.git.shallow_clone import create_bare_repository, object_format_of
from kalypso_actions.clients.process import OutputLimitError, ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.history import Ancestry, FileVersion, FileVersions, HistoryCommit

DEPTHS: Final = (50, 1000)
"""The number of commits to fetch first and second; the third fetch gets the whole history."""

CHUNK: Final = 50
BLOBS: Final = 2000
"""The maximum number of blobs to request at once."""

MAX_CHANGES: Final = 1 << 27
"""Bytes of the changes to read at once, enough for 800,000 changed files."""

NO_MODE: Final = "000000"


TreePlace = tuple[str, str]
"""A commit, and the path of a folder; "" is the root."""


class HistoryClone:
    """Three bare repositories: with commits and trees, with commits only, and with all files.

    `ShallowClone` is a separate repository, because its fetches would truncate this history.
    Not thread-safe.
    """

    def __init__(self, git: Git, git_dir: Path, connection: Connection) -> None:
        """`git_dir` is the path of the first repository; the second one is beside it."""
        self._git = git
        self._trees = git_dir
        self._commits = git_dir.with_suffix(".commits.git")
        self._whole = git_dir.with_suffix(".whole.git")
        self._connection = connection
        self._blobs: dict[str, bytes] = {}
        self._ancestries: dict[str, Ancestry] = {}

    def line(self, commit: str) -> Iterator[HistoryCommit]:
        """Yield the first-parent line from a commit to its root, newest first.

        This fetches commits lazily. Raises KalypsoError.
        """
        yielded = 0
        for depth in (*DEPTHS, None):
            ids, is_whole = self._list(commit, depth)
            try:
                yield from read_line(partial(self._run, self._trees), ids[yielded:])
            except OutputLimitError as error:
                message = "a commit of the history changes too many files: their paths and ids "
                message += f"have more than {MAX_CHANGES >> 20} MiB"
                advice = "divide the environment, so that fewer files change at once"
                raise KalypsoError(message, Location(self._connection.url), advice) from error
            yielded = len(ids)
            if is_whole:
                return

    def ancestry(self, commit: str) -> Ancestry:
        """Return all ancestors of a commit, which are read once. Raises KalypsoError."""
        if commit not in self._ancestries:
            create_bare_repository(self._commits, object_format_of(commit))
            # A server without filters also sends trees and blobs.
            self._fetch(self._commits, "tree:0", commit)
            output = self._run(self._commits, "rev-list", "--parents", commit)
            rows = (line.split() for line in output.decode().splitlines())
            parents = {row[0]: tuple(row[1:]) for row in rows}
            self._ancestries[commit] = Ancestry(commit, parents)
        return self._ancestries[commit]

    def blobs(self, ids: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents of blobs of this history by id. Raises KalypsoError."""
        missing = sorted(set(ids) - self._blobs.keys())
        for start in range(0, len(missing), BLOBS):
            request = _lines(missing[start : start + BLOBS])
            self._connection.fetch(
                self._trees,
                ["--stdin", "origin"],
                "files",
                "blob:none",
                negotiate=False,
                stdin=request,
            )
            objects = batch_objects(self._run(self._trees, "cat-file", "--batch", stdin=request))
            self._blobs.update({blob.id: blob.content for blob in objects if blob is not None})
        return {object_id: self._blobs[object_id] for object_id in ids}

    def trees(self, places: Sequence[TreePlace]) -> Mapping[TreePlace, str]:
        """Return the tree ids of folders at commits of a line that was read. Raises KalypsoError.

        A folder that does not exist is left out.
        """
        return read_trees(partial(self._run, self._trees), places)

    def line_log(self, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of a first-parent line after `after`; see `read_line_log`.

        This fetches all files of its newest commits, or of all if `after` is older than these.
        Raises KalypsoError.
        """
        create_bare_repository(self._whole, object_format_of(commit))
        subject = f"the history of the commit {commit}"
        run = partial(self._run, self._whole)
        shallow = self._whole / "shallow"
        if after:
            depth = f"--depth={DEPTHS[-1]}"
            self._connection.read(self._whole, [*FETCH, depth, "origin", commit], subject)
            log = read_line_log(run, commit, after)
            if log.continues or not shallow.exists():
                return log
        deepen = ["--unshallow"] if shallow.exists() else []
        self._connection.read(self._whole, [*FETCH, *deepen, "origin", commit], subject)
        return read_line_log(run, commit, after)

    def _list(self, commit: str, depth: int | None) -> tuple[list[str], bool]:
        """Return the first-parent line up to this depth, and whether it reaches its root.

        This leaves out the last commit of a shallow history, because its changes are unknown.
        """
        create_bare_repository(self._trees, object_format_of(commit))
        shallow = self._trees / "shallow"
        if depth is not None:
            self._fetch(self._trees, "blob:none", commit, f"--depth={depth}")
        elif shallow.exists():
            self._fetch(self._trees, "blob:none", commit, "--unshallow")
        ids = self._run(self._trees, "rev-list", "--first-parent", commit).decode().split()
        complete = without_boundary(ids, shallow)
        return complete, len(complete) == len(ids)

    def _fetch(self, git_dir: Path, object_filter: str, commit: str, *more: str) -> None:
        subject = f"the history of the commit {commit}"
        self._connection.fetch(git_dir, [*more, "origin", commit], subject, object_filter)

    def _run(self, git_dir: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        try:
            return self._git.run(git_dir, arguments, stdin=stdin, max_output=MAX_CHANGES)
        except OutputLimitError:
            raise
        except ProcessError as error:
            message = f"the history cannot be read: {error.stderr or error}"
            raise KalypsoError(message, Location(self._connection.url)) from error


def read_line(run: Callable[..., bytes], ids: Sequence[str]) -> Iterator[HistoryCommit]:
    """Yield commits of a first-parent line with their changes; `run` calls git in the repository.

    The repository must have each commit's first parent, too. Read fewer commits at once after too
    large an output: those of a large fleet change hundreds of thousands of files each. Raises
    OutputLimitError if one commit has too many changes.
    """
    size, start = CHUNK, 0
    while start < len(ids):
        try:
            commits = _read_commits(run, ids[start : start + size])
        except OutputLimitError:
            if size == 1:
                raise
            size = max(1, size // 8)
            continue
        yield from commits
        start += size


def _read_commits(run: Callable[..., bytes], ids: Sequence[str]) -> list[HistoryCommit]:
    objects = batch_objects(run("cat-file", "--batch", stdin=_lines(ids)))
    commits = [_commit(entry.id, entry.content) for entry in objects if entry is not None]
    # By default, git compares a merge with all parents; here only the first one counts.
    request = _lines(f"{commit.id} {''.join(commit.parents[:1])}" for commit in commits)
    arguments = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--raw")
    changes = _changes(run(*arguments, stdin=request))
    return [dataclasses.replace(commit, changes=changes.get(commit.id, {})) for commit in commits]


def read_trees(run: Callable[..., bytes], places: Sequence[TreePlace]) -> dict[TreePlace, str]:
    """Return the tree ids of folders at commits; `run` calls git in the repository."""
    # A line break would end the request; no tree that we write has one.
    asked = [place for place in dict.fromkeys(places) if "\n" not in place[1]]
    if not asked:
        return {}
    request = _lines(f"{commit}:{path.strip('/')}" for commit, path in asked)
    output = run("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=request)
    rows = [row.split(" ") for row in output.decode("utf-8", "replace").split("\n")]
    return {place: row[1] for place, row in zip(asked, rows, strict=False) if row[0] == "tree"}


def without_boundary(ids: Iterable[str], shallow: Path) -> list[str]:
    """Return the commits whose parents exist here; git lists the others in the file `shallow`."""
    boundary = set(shallow.read_text().split()) if shallow.exists() else set()
    return [object_id for object_id in ids if object_id not in boundary]


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")


def _commit(commit: str, content: bytes) -> HistoryCommit:
    """Parse a commit object: headers, an empty line, the message."""
    head, _, message = content.partition(b"\n\n")
    parents: list[str] = []
    seconds = 0
    author = b""
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode())
        elif key == b"author":
            author = value.rpartition(b" <")[0]
        elif key == b"committer":
            date = value.rpartition(b">")[2].split()
            seconds = int(date[0]) if date and date[0].isdigit() else 0
    return HistoryCommit(
        commit,
        tuple(parents),
        _date(seconds),
        message.decode("utf-8", "replace"),
        {},
        author.decode("utf-8", "replace"),
    )


def _date(seconds: int) -> datetime:
    """Convert a commit's time in seconds; a commit can contain any number."""
    return datetime.fromtimestamp(min(seconds, 1 << 37), UTC)


def _changes(output: bytes) -> dict[str, dict[str, FileVersions]]:
    """Parse `<commit>`, `:mode mode id id letter`, `path`, …, each ended by NUL."""
    fields = iter(output.split(b"\0"))
    changes: dict[str, dict[str, FileVersions]] = {}
    commit = ""
    for field in fields:
        if field.startswith(b":"):
            before_mode, after_mode, before, after, _ = field[1:].decode().split()
            path = next(fields).decode("utf-8", "surrogateescape")
            change = FileVersions(_version(before_mode, before), _version(after_mode, after))
            changes.setdefault(commit, {})[path] = change
        elif field:
            commit = field.decode()
    return changes


def _version(mode: str, object_id: str) -> FileVersion | None:
    return None if mode == NO_MODE else FileVersion(mode, object_id)
