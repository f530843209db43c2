"""The files of one commit, by `git ls-tree` and `git cat-file`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.objects import batch_objects
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import OutputLimitError, ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import FileEntry

MAX_TOTAL: Final = 1 << 30
MAX_LISTING: Final = 1 << 26
"""Bytes of a commit's paths and ids, for half a million files or more. A commit of a few bytes can
hold far more than that: folders that are the same are one object."""

TREE_MODE: Final = "040000"
# A tree made by hand can hold what no checkout would write.
UNSAFE_PATH: Final = re.compile(rb"(?:^|/)(?:\.{0,2}|\.[gG][iI][tT])(?:/|\Z)")


def is_unsafe(path: bytes) -> bool:
    """Whether no checkout would write a file here: `..`, `.git`, an empty segment."""
    return UNSAFE_PATH.search(path) is not None


class GitFiles:
    """The files of one commit in a repository on this machine.

    `fetch_missing` is called with the ids of blobs before they are read, in a repository that may
    not have all of them; sizes are not known then (-1).
    """

    def __init__(
        self,
        git: Git,
        git_dir: Path,
        repository: str,
        commit: str,
        fetch_missing: Callable[[Collection[str]], None] | None = None,
    ) -> None:
        self._git = git
        self._git_dir = git_dir
        self._repository = repository
        self._commit = commit
        self._fetch_missing = fetch_missing
        self._listing: tuple[Mapping[str, FileEntry], Mapping[str, str]] | None = None
        self._root = ""

    @property
    def repository(self) -> str:
        """Its URL or path, as the user knows it."""
        return self._repository

    @property
    def commit(self) -> str | None:
        """The commit's id."""
        return self._commit

    def entries(self) -> Mapping[str, FileEntry]:
        """Every file by its path. Raises KalypsoError for a tree that no checkout would write."""
        return self._list()[0]

    def tree_id(self, path: str) -> str | None:
        """The tree id of a folder ("" or "." for the root); None when there is no such folder."""
        if path not in {"", "."}:
            return self._list()[1].get(path)
        if not self._root:
            self._contents([])
        return self._root

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Contents of these files. Raises KeyError for a path that is no entry."""
        entries = self.entries()
        wanted = [entries[path] for path in paths]
        ids = {entry.object_id for entry in wanted}
        if self._fetch_missing is not None:
            self._fetch_missing(ids)
        contents = self._contents(sorted(ids))
        return {entry.path: contents[entry.object_id] for entry in wanted}

    def _list(self) -> tuple[Mapping[str, FileEntry], Mapping[str, str]]:
        if self._listing is None:
            # Asking for sizes would ask for the blobs.
            long = ["-l"] if self._fetch_missing is None else []
            command = ["ls-tree", "-r", "-t", "-z", "--full-tree", *long, self._commit]
            try:
                output = self._run(*command, max_output=MAX_LISTING)
            except OutputLimitError as error:
                message = f"the commit {self._commit} holds too many files"
                advice = (
                    f"at most {MAX_LISTING >> 20} MiB of paths are listed: use a smaller repository"
                )
                raise KalypsoError(message, Location(self._repository), advice) from error
            self._listing = self._parse(output)
        return self._listing

    def _run(self, *arguments: str, stdin: bytes = b"", max_output: int) -> bytes:
        """What git says. Raises OutputLimitError, KalypsoError."""
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin, max_output=max_output)
        except OutputLimitError:
            raise
        except ProcessError as error:
            partial = "promisor" in error.stderr or "object info" in error.stderr
            advice = "a partial clone lacks files: clone it again without --filter"
            raise KalypsoError(
                f"the commit {self._commit} cannot be read: {error.stderr or error}",
                Location(self._repository),
                advice if partial else "",
            ) from error

    def _parse(self, output: bytes) -> tuple[Mapping[str, FileEntry], Mapping[str, str]]:
        """`mode type id [size]<TAB>path`, each ended by NUL."""
        entries: dict[str, FileEntry] = {}
        trees: dict[str, str] = {}
        for line in output.split(b"\0"):
            if not line:
                continue
            fields, _, raw_path = line.partition(b"\t")
            mode, _, object_id, *size = fields.decode().split()
            path = raw_path.decode("utf-8", "surrogateescape")
            if is_unsafe(raw_path):
                where = Location(self._repository, repr(path))
                raise KalypsoError("the commit holds a path that no checkout would write", where)
            if mode == TREE_MODE:
                trees[path] = object_id
            else:
                known = size and size[0].isdigit()
                entries[path] = FileEntry(path, mode, object_id, int(size[0]) if known else -1)
        return dict(sorted(entries.items(), key=lambda one: _bytes(one[0]))), trees

    def _contents(self, ids: list[str]) -> Mapping[str, bytes]:
        """What these objects hold. The root's tree comes along: its id is asked for afterwards."""
        root = f"{self._commit}^{{tree}}"
        request = "".join(f"{one}\n" for one in [root, *ids]).encode()
        try:
            output = self._run("cat-file", "--batch", stdin=request, max_output=MAX_TOTAL)
        except OutputLimitError as error:
            message = f"the files to read have more than {MAX_TOTAL >> 20} MiB"
            advice = "exclude large files by .sourceignore"
            raise KalypsoError(message, Location(self._repository), advice) from error
        contents: dict[str, bytes] = {}
        for name, found in zip([root, *ids], batch_objects(output), strict=True):
            if found is None:
                message = f"the repository lacks the object {name}"
                raise KalypsoError(message, Location(self._repository), "clone it again")
            if name == root:
                self._root = found.id
            contents[found.id] = found.content
        return contents


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
