"""Files of a repository at a commit, and their YAML documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.promotion_policy import PolicyReading

Path = tuple[str | int, ...]
"""Keys and list indexes of a document, outermost first."""

Mark = tuple[int, int]
"""Line and column, counted from 1."""

EntryMark = tuple[int, int, int]
"""Line and column of a key or list item, and the column of a key's value.

If the value begins on another line, the last column is the column of the key.
"""

FILE_MODE = "100644"
EXECUTABLE_MODE = "100755"
SYMLINK_MODE = "120000"
GIT_LINK_MODE = "160000"
"""A submodule: a commit of another repository, without content here."""


class FileEntry(NamedTuple):
    """A file of a tree, as `git ls-tree -r` lists it; a tuple, because trees have many files.

    `path` is relative to the repository's root, with `/` between segments; bytes that are not UTF-8
    are surrogate escapes. `object_id` is the blob id, and `size` the length in bytes; the content
    of a symbolic link is the text of its target.
    """

    path: str
    mode: str
    object_id: str
    size: int


class FilesTooLargeError(Exception):
    """The files to read have too many bytes; `largest` is the path of the largest."""

    def __init__(self, largest: str) -> None:
        super().__init__(largest)
        self.largest = largest


class RevisionFiles(Protocol):
    """The files of a commit, or of a plain folder in place of a commit."""

    @property
    def repository(self) -> str:
        """The URL or path for messages."""

    @property
    def commit(self) -> str | None:
        """The commit's id; None for a plain folder."""

    def entries(self, max_bytes: int = ..., /) -> Mapping[str, FileEntry]:
        """Return all files by path, sorted by the bytes of the path.

        `max_bytes` limits their paths and ids. Raises KalypsoError.
        """

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        """Return the contents of files in one read; the content of a symbolic link is its target.

        Raises KeyError for an unknown path, KalypsoError if a file cannot be read,
        FilesTooLargeError for more than `max_bytes`.
        """

    def tree_id(self, path: str) -> str | None:
        """Return the tree id of a folder ("" for the root); None without one."""

    def folder_ids(self, path: str) -> Mapping[str, str]:
        """Return the tree ids of the folders in a folder ("" for the root), by name."""


def content_of(files: RevisionFiles, path: str) -> bytes | None:
    """Return the content of a file; None if there is no such file. Raises KalypsoError."""
    return files.read([path])[path] if path in files.entries() else None


@dataclass(frozen=True, slots=True)
class Revision:
    """A folder of a repository at a commit.

    `repository` is the URL as written by the user. `commit` and `tree` (the tree id of `path`) are
    None for a plain folder.
    """

    repository: str
    branch: str
    commit: str | None
    path: str
    tree: str | None


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The beginning of a text in a file; if it `is_literal`, the file has the same lines."""

    line: int
    column: int = 0
    is_literal: bool = True

    def at(self, line: int, column: int = 0) -> Mark:
        """Return the place of a line and column of the text, or else of the text."""
        if not self.is_literal:
            return self.line, self.column
        known = self.column and column
        return self.line + line - 1, self.column + column - 1 if known else 0


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document as plain Python values (dict, list, str, int, float, bool, None).

    `where` is the place of the first key. `marks` has the place of each key and list item by its
    path in `body`, such as `("spec", "manifests", 0)`. `blocks` are the paths of literal block
    scalars (`|`), whose text starts on the next line, with the column of its first character.
    """

    body: Mapping[str, object]
    where: Location
    marks: Mapping[Path, EntryMark]
    blocks: Mapping[Path, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the kind and the name, for people."""
        return f"{self.kind} {self.name!r}"

    def at(self, *path: str | int) -> Location:
        """Return the place of the value at `path`, or else of its nearest ancestor's key.

        A value that begins below its key has the key's place.
        """
        mark = self.marks.get(path)
        if mark is None:
            return self.key_at(*path[:-1]) if path else self.where
        return self._located(mark[0], mark[2])

    def key_at(self, *path: str | int) -> Location:
        """Return the place of the key of `path`, or of its nearest existing ancestor."""
        for length in range(len(path), 0, -1):
            mark = self.marks.get(path[:length])
            if mark is not None:
                return self._located(mark[0], mark[1])
        return self.where

    def _located(self, line: int, column: int) -> Location:
        # `dataclasses.replace` takes three times as long, and a fleet has many places.
        where = self.where
        return Location(where.repository, where.path, line, column, where.branch, where.commit)

    def text_at(self, *path: str | int) -> TextPlace:
        """Return where the text at `path` begins."""
        where = self.at(*path)
        if path in self.blocks:
            return TextPlace(where.line + 1, self.blocks[path])
        return TextPlace(where.line, where.column, is_literal=False)

    @property
    def api_version(self) -> str:
        """`apiVersion`; "" when absent or not a string."""
        return _text(self.body.get("apiVersion"))

    @property
    def kind(self) -> str:
        """`kind`; "" when absent or not a string."""
        return _text(self.body.get("kind"))

    @property
    def name(self) -> str:
        """`metadata.name`; "" when absent or not a string."""
        metadata = self.body.get("metadata")
        return _text(metadata.get("name")) if isinstance(metadata, Mapping) else ""


class Places(Mapping[str, Location]):
    """The places of keys or values of a mapping in a document, found when somebody asks.

    A fleet has tens of thousands, and needs those of faults and of explained values.
    """

    def __init__(
        self, find: Callable[..., Location], path: Path, keys: Mapping[str, object]
    ) -> None:
        """`find` is `Document.at` or `Document.key_at`, `path` that of the mapping with `keys`."""
        self._find = find
        self._path = path
        self._keys = keys

    def __getitem__(self, key: str) -> Location:
        if key not in self._keys:
            raise KeyError(key)
        return self._find(*self._path, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The readable documents of a revision, with all problems and warnings about its files.

    The caller decides what the problems stop. `placements` are the documents of `.github/kalypso`,
    `policies` those of its PromotionPolicy. `policy` is what these say, with problems of its own: a
    policy stops promotions alone.
    """

    revision: Revision
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    placements: tuple[Document, ...] = ()
    policies: tuple[Document, ...] = ()
    policy: PolicyReading = field(default_factory=PolicyReading)
