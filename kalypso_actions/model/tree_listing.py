"""Paths in git's order, and the listing of a tree, of which only the needed lines are parsed.

A GitOps tree may have hundreds of thousands of files, and a run that changes few of them needs few.
"""

from __future__ import annotations

import re
from collections.abc import Collection, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from functools import cached_property
from typing import Final, NamedTuple

from kalypso_actions.model.documents import FileEntry

TREE_MODE: Final = "040000"
SINGLE_LOOKUPS: Final = 8
"""The most files to look up one by one, before all lines are parsed."""

_LINE: Final = re.compile(r"\0([0-9]+) [a-z]+ ([0-9a-f]+)(?: +([0-9-]+))?\t([^\0]*)")
_FILE: Final = re.compile(r"\x00[0-9]++ (?!tree)[a-z]++ [0-9a-f]++(?: +[0-9-]+)?\t([^\0]*)")
_FOLDER: Final = re.compile(r"\x00040000 tree [0-9a-f]++(?: +-)?\t([^\0]*)")


class ListedFolder(NamedTuple):
    """The lines from `start` to `end` of a listing: a folder with everything below it."""

    path: str
    listing: str
    start: int
    end: int

    @property
    def lines(self) -> str:
        """The lines, in the form of `TreeListing`."""
        return self.listing[self.start : self.end]

    def folders(self) -> list[str]:
        """Return the path of this folder and of each folder below it."""
        return _FOLDER.findall(self.lines)

    def files(self) -> list[str]:
        """Return the path of each file below the folder."""
        return _FILE.findall(self.lines)

    def versions(self) -> str:
        """Return a line `<mode> <id> <path>` for each file; the paths must have no blanks."""
        files = _FOLDER.sub("", self.lines).replace("\0", "\n")
        return f"{files[1:]}\n".replace(" blob ", " ").replace("\t", " ")


class TreeListing(Mapping[str, FileEntry]):
    """The files of a tree by path, sorted by the bytes of the path.

    `output` is that of `git ls-tree -r -t -z`: lines of `mode type id [size]<TAB>path`, each ended
    by NUL. The lines of this class begin with NUL instead.
    """

    def __init__(self, output: str) -> None:
        self._text = f"\0{output.removesuffix(chr(0))}" if output else ""
        self._lookups = 0
        self._folders: dict[str, Mapping[str, ListedFolder]] = {}

    def __getitem__(self, path: str) -> FileEntry:
        if "_files" in self.__dict__ or self._lookups == SINGLE_LOOKUPS:
            return self._files[path]
        self._lookups += 1
        return self._find(path)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def keys(self) -> KeysView[str]:
        """Return a view of the paths."""
        return self._files.keys()

    def values(self) -> ValuesView[FileEntry]:
        """Return a view of the files."""
        return self._files.values()

    def items(self) -> ItemsView[str, FileEntry]:
        """Return a view of the paths and files."""
        return self._files.items()

    @cached_property
    def tree_ids(self) -> Mapping[str, str]:
        """The tree ids of all folders but the root, by path."""
        lines = (_LINE.match(self._text, each.start()) for each in _FOLDER.finditer(self._text))
        return {line[4]: line[2] for line in lines if line}

    def paths(self) -> list[str]:
        """Return the path of each file and folder, in the order of git."""
        return [path for *_, path in _LINE.findall(self._text)]

    def named(self, name: str) -> Iterator[str]:
        """Yield the path of each file with this name, in any folder; other lines are not parsed."""
        place = self._text.find(name)
        while place >= 0:
            line = _LINE.match(self._text, self._text.rfind("\0", 0, place))
            if line and line[1] != TREE_MODE and line[4].rpartition("/")[2] == name:
                yield line[4]
            place = self._text.find(name, line.end() if line else place + 1)

    def folders(self, outer: str) -> Mapping[str, ListedFolder]:
        """Return the folders in the folder `outer` ("" for the root), by name."""
        if outer not in self._folders:
            parent, _, name = outer.rpartition("/")
            known = self._folders.get(parent, {}).get(name)
            start, end = (known.start, known.end) if known else (0, len(self._text))
            inside = _folders_in(self._text, outer, start, end)
            self._folders[outer] = {item.path.rpartition("/")[2]: item for item in inside}
        return self._folders[outer]

    def without(self, folders: Collection[ListedFolder]) -> Mapping[str, FileEntry]:
        """Return all files but those of some folders, which are not parsed."""
        rest, end = [], 0
        for folder in sorted(folders, key=lambda item: item.start):
            rest.append(self._text[end : folder.start])
            end = folder.end
        return _parsed("".join([*rest, self._text[end:]])) if folders else self._files

    @cached_property
    def _files(self) -> dict[str, FileEntry]:
        return _parsed(self._text)

    def _find(self, path: str) -> FileEntry:
        """Return a file without parsing other lines; a path may have a tab itself."""
        ending = f"\t{path}"
        place = self._text.find(ending)
        while place >= 0:
            line = _LINE.match(self._text, self._text.rfind("\0", 0, place))
            if line and line[4] == path and line[1] != TREE_MODE:
                return _entry(*line.groups())
            # If a line has this path, its first tab is the one before it.
            place = self._text.find(ending, line.end() if line else place + 1)
        raise KeyError(path)


def _folders_in(listing: str, outer: str, start: int, end: int) -> Iterator[ListedFolder]:
    """Yield the folders in the folder `outer`, from the lines between two places."""
    prefix = f"{outer}/" if outer else ""
    depth = prefix.count("/")
    folders = [
        line
        for line in _FOLDER.finditer(listing, start, end)
        if line[1].count("/") == depth and line[1].startswith(prefix)
    ]
    bounds = [*(line.start() for line in folders), end]
    for line, limit in zip(folders, bounds[1:], strict=True):
        last = _last_below(listing, f"{line[1]}/", line.end(), limit)
        stop = listing.find("\0", last, limit) if last >= 0 else line.end()
        yield ListedFolder(line[1], listing, line.start(), stop if stop >= 0 else limit)


def _last_below(listing: str, folder: str, start: int, end: int) -> int:
    """Return a place in the last line of a folder's files between two places; -1 for none.

    The path of another file may have a tab, and the folder behind it.
    """
    place = listing.rfind(f"\t{folder}", start, end)
    while place >= 0:
        line = _LINE.match(listing, listing.rfind("\0", 0, place))
        if line and line[4].startswith(folder):
            return place
        # One long path may have many tabs: go on before it.
        place = listing.rfind(f"\t{folder}", start, line.start() if line else place)
    return -1


def _parsed(text: str) -> dict[str, FileEntry]:
    entries = {line[3]: _entry(*line) for line in _LINE.findall(text) if line[0] != TREE_MODE}
    return {path: entries[path] for path in bytewise(entries)}


def _entry(mode: str, object_id: str, size: str | None, path: str) -> FileEntry:
    return FileEntry(path, mode, object_id, int(size) if size and size.isdigit() else -1)


def bytewise(paths: Iterable[str]) -> list[str]:
    """Sort paths by their bytes, as git does; bytes that are not UTF-8 are surrogate escapes."""
    listed = list(paths)
    if all(map(str.isascii, listed)):
        return sorted(listed)  # a key for each path would take three times as long
    return sorted(listed, key=lambda path: path.encode("utf-8", "surrogateescape"))


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that the files at these paths need, and the folders above it."""
    folders = {path.rpartition("/")[0] for path in paths}
    outer = folders
    while outer:
        outer = {folder.rpartition("/")[0] for folder in outer} - folders
        folders |= outer
    return folders - {""}
