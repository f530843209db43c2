"""The files of one commit, by `git ls-tree` and `git cat-file`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import OutputLimitError, ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import FileEntry, FilesTooLargeError
from kalypso_actions.model.tree_listing import TreeListing


class GitObject(NamedTuple):
    """A git object."""

    id: str
    type: str
    content: bytes


def batch_objects(output: bytes) -> Iterator[GitObject | None]:
    """Yield the objects in the order of the request, None for a missing one.

    The output is `id type size<LF>content<LF>` for an object, else `name missing<LF>`.
    """
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if len(header) == 3 and header[2].isdigit():
            end = position + int(header[2])
            yield GitObject(header[0].decode(), header[1].decode(), output[position:end])
            position = end + 1
        else:
            yield None


MAX_TOTAL: Final = 1 << 30
MAX_LISTING: Final = 1 << 29
"""Bytes of a commit's paths and ids, enough for four million files: those of a million assignments.
A tiny repository can list far more, because equal folders are one object; for registered ones,
`sources.limits` has a lower limit."""

MAX_ROOT: Final = 1 << 20
HEADER: Final = 100
"""Bytes of the root folder's tree, which git returns with the files, and of each file's header."""

FETCHED_BLOBS: Final = 32
"""The number of blobs to fetch at once under a limit; only afterwards are their sizes known."""

KEPT: Final = 1 << 16
"""Bytes of the contents that a commit's files keep, for the few documents that are read again."""

# A tree made by hand can contain paths that no checkout would write.
UNSAFE_PATH: Final = re.compile(rb"(?:^|/)(?:\.{0,2}|\.[gG][iI][tT])(?:/|\Z)")
_UNSAFE_REST: Final = rb"(?:[/\0]|\.(?:[/\0]|\.[/\0]|[gG][iI][tT][/\0]))"
UNSAFE_STARTS: Final = [re.compile(start + _UNSAFE_REST) for start in (rb"/", rb"\t")]
"""Match an unsafe segment in a listing, and some safe ones after a tab; two patterns are faster,
because each begins with a fixed text."""


def is_unsafe(path: bytes) -> bool:
    """Return whether no checkout would write this path: it has `..`, `.git` or an empty segment."""
    return UNSAFE_PATH.search(path) is not None


def _may_be_unsafe(listing: bytes) -> bool:
    """Whether a listing may have an unsafe path: a fast look, which some safe paths do not pass."""
    return any(start.search(listing) for start in UNSAFE_STARTS)


class GitFiles:
    """The files of a commit in a repository on this machine.

    In a partial clone, `fetch_missing` fetches missing blobs by their ids. Sizes are then unknown
    (-1), as they are without `sizes`, because git reads every blob to get its size.
    """

    def __init__(
        self,
        git: Git,
        git_dir: Path,
        repository: str,
        commit: str,
        fetch_missing: Callable[[Collection[str]], None] | None = None,
        *,
        sizes: bool = True,
    ) -> None:
        self._git = git
        self._git_dir = git_dir
        self._repository = repository
        self._commit = commit
        self._fetch_missing = fetch_missing
        self._has_sizes = sizes and fetch_missing is None  # to list sizes, git would fetch blobs
        self._listing: TreeListing | None = None
        self._root = ""
        self._kept: dict[str, bytes] = {}

    @property
    def repository(self) -> str:
        """The URL or path for messages."""
        return self._repository

    @property
    def commit(self) -> str | None:
        """The commit's id."""
        return self._commit

    def subject(self) -> str:
        """Return the first line of the commit's message. Raises KalypsoError."""
        output = self._run("log", "-1", "--format=%s", self._commit, max_output=MAX_LISTING)
        return output.decode("utf-8", "replace").strip()

    def entries(self, max_bytes: int = MAX_LISTING) -> TreeListing:
        """Return all files by path.

        Raises KalypsoError for a path that no checkout would write, and for more than `max_bytes`
        of paths and ids.
        """
        if self._listing is None:
            long = ["-l"] if self._has_sizes else []
            command = ["ls-tree", "-r", "-t", "-z", "--full-tree", *long, self._commit]
            try:
                output = self._run(*command, max_output=max_bytes)
            except OutputLimitError as error:
                message = f"the commit {self._commit} has too many files"
                advice = f"use a smaller repository: the limit is {max_bytes >> 20} MiB of paths"
                raise KalypsoError(message, Location(self._repository), advice) from error
            listing = TreeListing(output.decode("utf-8", "surrogateescape"))
            if _may_be_unsafe(output):
                self._check_paths(listing.paths())
            self._listing = listing
        return self._listing

    def tree_id(self, path: str) -> str | None:
        """Return the tree id of a folder ("" or "." for the root); None if it does not exist."""
        if path not in {"", "."}:
            return self.entries().tree_ids.get(path)
        if not self._root:
            self._contents([])
        return self._root

    def folder_ids(self, path: str) -> Mapping[str, str]:
        """Return the tree ids of the folders in a folder ("" for the root), by name.

        This lists no other files of the commit. The result for a missing folder is empty. Raises
        KalypsoError.
        """
        folder = [f"{path}/"] if path else []
        # Otherwise, git would read `-x/` as an option and `:x/` as a pattern.
        command = ["--literal-pathspecs", "ls-tree", "-d", "-z", "--full-tree", "--", self._commit]
        output = self._run(*command, *folder, max_output=MAX_LISTING)
        text = output.decode("utf-8", "surrogateescape")
        lines = (line.partition("\t") for line in text.split("\0") if line)
        return {name.rpartition("/")[2]: fields.split()[2] for fields, _, name in lines}

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        """Return the contents of files. Raises KeyError for an unknown path, FilesTooLargeError."""
        entries = self.entries()
        requested = [entries[path] for path in paths]
        ids = {entry.object_id for entry in requested}
        if max_bytes is None and ids <= self._kept.keys():
            return {entry.path: self._kept[entry.object_id] for entry in requested}
        try:
            contents = self._contents(ids, max_bytes)
            missing = sorted(ids - contents.keys())
            step = len(missing) if max_bytes is None else FETCHED_BLOBS
            while missing and self._fetch_missing is not None:
                some, missing = missing[:step], missing[step:]
                self._fetch_missing(some)
                left = None if max_bytes is None else max_bytes - _size(contents)
                contents |= self._contents(some, left)
        except OutputLimitError as error:
            raise FilesTooLargeError(self._largest(requested)) from error
        if len(contents) < len(ids):
            raise self._lacks(min(ids - contents.keys()))
        if _size(self._kept) + _size(contents) <= KEPT:
            self._kept |= contents
        return {entry.path: contents[entry.object_id] for entry in requested}

    def _run(self, *arguments: str, stdin: bytes = b"", max_output: int) -> bytes:
        """Return git's output. Raises OutputLimitError, KalypsoError."""
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin, max_output=max_output)
        except OutputLimitError:
            raise
        except ProcessError as error:
            is_partial = "promisor" in error.stderr or "object info" in error.stderr
            advice = "a partial clone lacks files: clone it again without --filter"
            raise KalypsoError(
                f"the commit {self._commit} cannot be read: {error.stderr or error}",
                Location(self._repository),
                advice if is_partial else "",
            ) from error

    def _check_paths(self, paths: Iterable[str]) -> None:
        for path in paths:
            if is_unsafe(_bytes(path)):
                where = Location(self._repository, repr(path))
                raise KalypsoError("the commit contains a path that no checkout would write", where)

    def _contents(self, ids: Collection[str], max_bytes: int | None = None) -> dict[str, bytes]:
        """Return the contents of the objects that are here, and note the id of the root tree.

        Raises KalypsoError; OutputLimitError for objects of more than `max_bytes`.
        """
        root = f"{self._commit}^{{tree}}"
        request = "".join(f"{name}\n" for name in [root, *sorted(ids)]).encode()
        most = MAX_TOTAL if max_bytes is None else max(0, max_bytes) + MAX_ROOT + HEADER * len(ids)
        try:
            output = self._run("cat-file", "--batch", stdin=request, max_output=most)
        except OutputLimitError as error:
            if max_bytes is not None:
                raise
            message = f"the files to read have more than {MAX_TOTAL >> 20} MiB in total"
            advice = "exclude large files by .sourceignore"
            raise KalypsoError(message, Location(self._repository), advice) from error
        tree, *objects = batch_objects(output)
        if tree is None:
            raise self._lacks(root)
        self._root = tree.id
        return {entry.id: entry.content for entry in objects if entry is not None}

    def _largest(self, entries: Iterable[FileEntry]) -> str:
        """Return the path of the largest of these files that are here."""
        paths: dict[str, str] = {}
        for entry in entries:
            paths.setdefault(entry.object_id, entry.path)
        request = "".join(f"{name}\n" for name in paths).encode()
        form = "--batch-check=%(objectsize) %(objectname)"
        output = self._run("cat-file", form, stdin=request, max_output=MAX_LISTING)
        lines = [line.split() for line in output.decode().splitlines()]
        sizes = {name: int(size) for size, name in lines if size.isdigit()}
        return paths[max(sizes, key=lambda name: sizes[name])]

    def _lacks(self, name: str) -> KalypsoError:
        message = f"the repository lacks the object {name}"
        return KalypsoError(message, Location(self._repository), "clone it again")


def _size(contents: Mapping[str, bytes]) -> int:
    return sum(map(len, contents.values()))


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
