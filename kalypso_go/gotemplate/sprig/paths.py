"""Paths with slashes: Go's `path` package."""

from __future__ import annotations

from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import BOOL, STRING


@function("base", STRING, returns=STRING)
def base(path: str) -> str:
    """Return the last element; `/` for slashes only, `.` for an empty path."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@function("dir", STRING, returns=STRING)
def dir_(path: str) -> str:
    """Return all but the last element, cleaned."""
    before, slash, _ = path.rpartition("/")
    return clean(before + slash)


@function("ext", STRING, returns=STRING)
def ext(path: str) -> str:
    """Return the last element from its last dot on."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


@function("isAbs", STRING, returns=BOOL)
def is_abs(path: str) -> bool:
    """Return whether the path begins with a slash."""
    return path.startswith("/")


@function("clean", STRING, returns=STRING)
def clean(path: str) -> str:
    """Return the shortest equivalent path, judging by the text only."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for element in path.split("/"):
        if element == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif element not in ("", ".") and not (element == ".." and rooted):
            kept.append(element)
    return ("/" if rooted else "") + "/".join(kept) or "."
