"""Paths inside a repository: `/` between segments, relative to its root, "" for the root."""

from __future__ import annotations

import re

WINDOWS_DRIVE = re.compile(r"[A-Za-z]:")


class OutsideRepositoryError(ValueError):
    """A path leaves the repository."""


def normalize(path: str) -> str:
    """Normalize the `path` of a source; `.`, `./x`, `x/` and `/x` are relative to the root.

    Raises OutsideRepositoryError if `..` leaves the repository.
    """
    return join("", path.lstrip("/"))


def join(folder: str, path: str) -> str:
    """Resolve a relative path.

    Raise OutsideRepositoryError for an absolute path, or one that leaves the root.
    """
    if path.startswith(("/", "\\")) or WINDOWS_DRIVE.match(path):
        raise OutsideRepositoryError(path)
    segments = folder.split("/") if folder else []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                raise OutsideRepositoryError(path)
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments)


def parent(path: str) -> str:
    """Return the folder of a file or folder."""
    return path.rpartition("/")[0]


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def printable(path: str) -> str:
    r"""Return a path for messages; bytes that are not UTF-8 are written as `\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
