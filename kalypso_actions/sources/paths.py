"""Paths inside a repository: `/` between segments, relative to its root, "" for the root."""

from __future__ import annotations

import re

WINDOWS_DRIVE = re.compile(r"[A-Za-z]:")


class OutsideError(ValueError):
    """A path that leaves the repository."""


def normalise(path: str) -> str:
    """Normalise the `path` of a source: `.`, `./x`, `x/` and `/x` are all within the repository.

    Raises OutsideError when `..` leaves it.
    """
    return join("", path.lstrip("/"))


def join(folder: str, path: str) -> str:
    """`path` as seen from `folder`; raises OutsideError when it is absolute or leaves the root."""
    if path.startswith(("/", "\\")) or WINDOWS_DRIVE.match(path):
        raise OutsideError(path)
    segments = folder.split("/") if folder else []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                raise OutsideError(path)
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments)


def parent(path: str) -> str:
    """The folder that a file or folder is in."""
    return path.rpartition("/")[0]


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or somewhere below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def printable(path: str) -> str:
    r"""A path for people: bytes that are not UTF-8 are written as `\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
