"""The folders of a repository's paths."""

from __future__ import annotations

from collections.abc import Iterable


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that the files at these paths need, and the folders around it."""
    folders = {path.rpartition("/")[0] for path in paths}
    outer = folders
    while outer:
        outer = {folder.rpartition("/")[0] for folder in outer} - folders
        folders |= outer
    return folders - {""}
