"""The history of a repository elsewhere: commits with what each of them changes, without blobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.bare_repository import create_bare_repository, object_format_of
from kalypso_actions.clients.git.connection import Connection
from kalypso_actions.clients.git.objects import batch_objects
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import OutputLimitError, ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.history import Ancestry, FileChange, FileVersion, HistoryCommit

DEPTHS: Final = (50, 1000)
"""How many commits are fetched at first, and then; after that the whole history is."""

FETCH: Final = ("fetch", "--quiet", "--no-tags")
CHUNK: Final = 50
BLOBS: Final = 2000
"""How many blobs one request asks for."""

MAX_CHANGES: Final = 1 << 27
"""Bytes of the changes of `CHUNK` commits, for a million changed files or more."""

NO_MODE: Final = "000000"


class HistoryClone:
    """Two bare repositories: one with commits and trees, one with nothing but commits.

    Shallow copies of single commits (`copies`) lie elsewhere: a fetch of one of them would cut the
    history that is here. For one thread at a time.
    """

    def __init__(self, git: Git, git_dir: Path, url: str, sleep: Callable[[float], None]) -> None:
        """`git_dir` is where the first one is made; the second one lies beside it."""
        self._git = git
        self._lines = git_dir
        self._commits = git_dir.with_suffix(".commits.git")
        self._connection = Connection(git, url, sleep)
        self._blobs: dict[str, bytes] = {}

    def line(self, commit: str) -> Iterator[HistoryCommit]:
        """The first-parent line from a commit back to its root, newest first.

        Commits are fetched as far as the iteration goes. Raises KalypsoError.
        """
        told = 0
        for depth in (*DEPTHS, None):
            ids, is_whole = self._listed(commit, depth)
            for start in range(told, len(ids), CHUNK):
                yield from self._described(ids[start : start + CHUNK])
            told = len(ids)
            if is_whole:
                return

    def ancestry(self, commit: str) -> Ancestry:
        """All commits that a commit contains. Raises KalypsoError."""
        create_bare_repository(self._commits, object_format_of(commit))
        # A server that does not filter sends trees and blobs as well.
        self._fetch(self._commits, "tree:0", commit)
        output = self._run(self._commits, "rev-list", "--parents", commit)
        rows = (line.split() for line in output.decode().splitlines())
        return Ancestry(commit, {row[0]: tuple(row[1:]) for row in rows})

    def blobs(self, ids: Collection[str]) -> Mapping[str, bytes]:
        """The contents of blobs of this history, fetched by few requests. Raises KalypsoError."""
        wanted = sorted(set(ids) - self._blobs.keys())
        for start in range(0, len(wanted), BLOBS):
            request = "".join(f"{one}\n" for one in wanted[start : start + BLOBS]).encode()
            # Negotiation would offer commits that say nothing about which blobs are here.
            settings = (*_partial("blob:none"), "fetch.negotiationAlgorithm=noop")
            command = [*FETCH, "--filter=blob:none", "--stdin", "origin"]
            self._connection.ask(self._lines, command, "files", settings=settings, stdin=request)
            found = batch_objects(self._run(self._lines, "cat-file", "--batch", stdin=request))
            self._blobs.update({one.id: one.content for one in found if one is not None})
        return {one: self._blobs[one] for one in ids}

    def _listed(self, commit: str, depth: int | None) -> tuple[list[str], bool]:
        """The line as far as it is known with this depth, and whether that is to its root.

        Of the commit where a shallow history ends, nobody can say what it changes: it is left out.
        """
        create_bare_repository(self._lines, object_format_of(commit))
        shallow = self._lines / "shallow"
        if depth is not None:
            self._fetch(self._lines, "blob:none", commit, f"--depth={depth}")
        elif shallow.exists():
            self._fetch(self._lines, "blob:none", commit, "--unshallow")
        ids = self._run(self._lines, "rev-list", "--first-parent", commit).decode().split()
        cut = set(shallow.read_text().split()) if shallow.exists() else set()
        known = [one for one in ids if one not in cut]
        return known, len(known) == len(ids)

    def _fetch(self, git_dir: Path, leave_out: str, commit: str, *more: str) -> None:
        self._connection.ask(
            git_dir,
            [*FETCH, f"--filter={leave_out}", *more, "origin", commit],
            f"the history of the commit {commit}",
            settings=_partial(leave_out),
        )

    def _described(self, ids: Sequence[str]) -> Iterator[HistoryCommit]:
        request = "".join(f"{one}\n" for one in ids).encode()
        found = batch_objects(self._run(self._lines, "cat-file", "--batch", stdin=request))
        commits = [_commit(one.id, one.content) for one in found if one is not None]
        # By default a merge is compared with all parents: the first one stands for them here.
        request = "".join(f"{one.id} {''.join(one.parents[:1])}\n" for one in commits).encode()
        arguments = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--raw")
        changes = _changes(self._run(self._lines, *arguments, stdin=request))
        return (dataclasses.replace(one, changes=changes.get(one.id, {})) for one in commits)

    def _run(self, git_dir: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        try:
            return self._git.run(git_dir, arguments, stdin=stdin, max_output=MAX_CHANGES)
        except OutputLimitError as error:
            message = "the history changes too many files at once"
            raise KalypsoError(message, Location(self._connection.url)) from error
        except ProcessError as error:
            message = f"the history cannot be read: {error.stderr or error}"
            raise KalypsoError(message, Location(self._connection.url)) from error


def _partial(leave_out: str) -> tuple[str, str]:
    """The settings of a repository that lacks objects on purpose."""
    return ("remote.origin.promisor=true", f"remote.origin.partialclonefilter={leave_out}")


def _commit(commit: str, content: bytes) -> HistoryCommit:
    """https://git-scm.com/docs/git-commit: headers, an empty line, the message."""
    head, _, message = content.partition(b"\n\n")
    parents: list[str] = []
    email, moment = b"", 0
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode())
        elif key == b"author":
            email = value.rpartition(b"<")[2].partition(b">")[0]
        elif key == b"committer":
            words = value.rpartition(b">")[2].split()
            moment = int(words[0]) if words and words[0].isdigit() else 0
    return HistoryCommit(
        commit,
        tuple(parents),
        _date(moment),
        email.decode("utf-8", "replace"),
        message.decode("utf-8", "replace"),
        {},
    )


def _date(seconds: int) -> datetime:
    """Anybody may write any number of seconds into a commit."""
    return datetime.fromtimestamp(min(seconds, 1 << 37), UTC)


def _changes(output: bytes) -> dict[str, dict[str, FileChange]]:
    """By commit and path: `<commit>`, then `:mode mode id id letter`, `path`, …, each with NUL."""
    fields = iter(output.split(b"\0"))
    changes: dict[str, dict[str, FileChange]] = {}
    commit = ""
    for field in fields:
        if field.startswith(b":"):
            before_mode, after_mode, before, after, _ = field[1:].decode().split()
            path = next(fields).decode("utf-8", "surrogateescape")
            change = FileChange(_version(before_mode, before), _version(after_mode, after))
            changes.setdefault(commit, {})[path] = change
        elif field:
            commit = field.decode()
    return changes


def _version(mode: str, object_id: str) -> FileVersion | None:
    return None if mode == NO_MODE else FileVersion(mode, object_id)
