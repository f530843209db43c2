"""Files of a repository at one commit, and the YAML documents found in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Protocol

from kalypso_actions.errors import Location, Problem

FILE_MODE = "100644"
EXECUTABLE_MODE = "100755"
SYMLINK_MODE = "120000"
GIT_LINK_MODE = "160000"
"""A commit of another repository (a submodule): it has no content here."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a tree, as `git ls-tree -r` lists it.

    `path` is relative to the repository's root with `/` between its segments; a byte in it that is
    not UTF-8 is a surrogate escape. `object_id` is the git blob id of the content (of the target's
    text for a symlink), `size` its length in bytes.
    """

    path: str
    mode: str
    object_id: str
    size: int


class RevisionFiles(Protocol):
    """The files of one commit, or of a plain folder that stands for a commit."""

    @property
    def repository(self) -> str:
        """The repository's URL or path, as the user knows it."""

    @property
    def commit(self) -> str | None:
        """The commit's id; None for a plain folder."""

    def entries(self) -> Mapping[str, FileEntry]:
        """Every file by its path, in the order of the paths' bytes. Raises KalypsoError."""

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Contents of these files, read in one go (a symlink's content is its target's text).

        Raises KeyError for a path that `entries` does not have, KalypsoError when reading fails.
        """

    def tree_id(self, path: str) -> str | None:
        """The git tree id of a folder ("" for the root); None if it does not exist or has none."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What was read: `path` of a repository at a commit.

    `repository` is the URL as it was written; `commit` and `tree` (the tree id of `path` in that
    commit) are None for a plain folder.
    """

    repository: str
    branch: str
    commit: str | None
    path: str
    tree: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document as plain Python values (dict, list, str, int, float, bool, None).

    `where` is the line of the document's first key. `lines` knows the line of every key and of
    every list item, by its path inside `body`: `("spec", "manifests", 0)`. `blocks` are the paths
    of texts written as block scalars (`|`, `>`), which start on the line after.
    """

    body: Mapping[str, object]
    where: Location
    lines: Mapping[tuple[str | int, ...], int]
    blocks: Set[tuple[str | int, ...]] = frozenset()

    def at(self, *path: str | int) -> Location:
        """Where the value at `path` stands, or the nearest ancestor that exists."""
        for length in range(len(path), 0, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return Location(self.where.repository, self.where.path, line)
        return self.where

    def text_at(self, *path: str | int) -> Location:
        """Where the text at `path` has its first line."""
        where = self.at(*path)
        return replace(where, line=where.line + 1) if path in self.blocks else where

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


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents of one revision, with everything that was wrong or doubtful about its files.

    With problems, the documents are those that could be read all the same: whoever uses them
    decides what the problems stop.
    """

    revision: Revision
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
