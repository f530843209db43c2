"""The folders and the order of a repository's paths."""

from __future__ import annotations

from collections.abc import Iterable


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
