"""URLs of repositories: which are allowed, which are the same, which lie below which."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from kalypso_actions.errors import KalypsoError, Location

SCP_LIKE: Final = re.compile(r"((?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9a-fA-F:]+\])):(?!//)(.*)")
WINDOWS_PATH: Final = re.compile(r"[A-Za-z]:[\\/]")
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")
"""With what is no text either: no program can be given it."""
DOTS: Final = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
TOKEN: Final = re.compile(r"gh[pousr]_|github_pat_|glpat-")


def check_url(url: str, protocols: frozenset[str]) -> None:
    """Refuse what git must not be given, before it is started. Raises KalypsoError.

    `protocols`: `https`, `http`, `ssh`, `file` (local paths, too).
    """
    parts = split(url)
    where = Location(without_secret(url))
    if url.startswith("-") or (parts.hostname or "").startswith("-"):
        raise KalypsoError("the URL of a repository cannot begin with '-'", where)
    if _has_secret(parts):
        advice = "remove it there, and give it by git-credentials"
        raise KalypsoError("the URL contains a password or token", where, advice)
    # remote::address starts the program git-remote-REMOTE.
    if not url or CONTROL.search(url) or "::" in url.partition("/")[0] or not parts.scheme:
        raise KalypsoError("this is not the URL of a repository", where)
    if parts.scheme != "file" and (" " in url or not parts.hostname):
        raise KalypsoError("this is not the URL of a repository", where)
    # It would lie below one prefix as it is written, and elsewhere once it is asked for.
    if parts.scheme != "file" and DOTS.search(parts.path):
        raise KalypsoError("the URL of a repository cannot have . or .. in its path", where)
    if parts.scheme not in protocols:
        allowed = " and ".join(sorted(protocols))
        raise KalypsoError(f"repositories are read by {allowed} only, not by {parts.scheme}", where)


def split(url: str) -> SplitResult:
    """The parts of a URL; `user@host:path` is ssh, and a path without a scheme is file.

    What cannot be taken apart has no scheme.
    """
    if "://" in url:
        try:
            parts = urlsplit(url)
            _ = parts.port, parts.hostname
        except ValueError:
            return SplitResult("", "", url, "", "")
        return parts
    scp_like = SCP_LIKE.fullmatch(url)
    if scp_like and not WINDOWS_PATH.match(url):
        return SplitResult("ssh", scp_like[1], "/" + scp_like[2].lstrip("/"), "", "")
    return SplitResult("file", "", url, "", "")


def is_path(url: str) -> bool:
    """Whether it is a path on this machine, written as a path."""
    return "://" not in url and split(url).scheme == "file"


def copy_key(url: str) -> str:
    """Equal where one copy serves both URLs: the host's case, a final `/` and `.git` aside.

    Another protocol or user is another way in, which may see less; and a server may tell paths by
    their case.
    """
    parts = split(url)
    path = parts.path.rstrip("/").removesuffix(".git")
    return parts._replace(netloc=parts.netloc.lower(), path=path).geturl()


def without_secret(url: str) -> str:
    """The URL as it may be shown."""
    parts = split(url)
    if not _has_secret(parts):
        return url
    return parts._replace(netloc="***@" + parts.netloc.rpartition("@")[2]).geturl()


def _has_secret(parts: SplitResult) -> bool:
    user = parts.username or ""
    return parts.password is not None or TOKEN.match(user) is not None


def depth_below(url: str, prefix: str) -> int:
    """How many segments of a path `prefix` has, where `url` lies below it; -1 where it does not.

    Only https and http URLs lie below a prefix: ssh has its own keys.
    """
    place, wanted = split(url), split(prefix)
    segments = _segments(wanted)
    if place.scheme not in {"https", "http"} or _server(place) != _server(wanted):
        return -1
    return len(segments) if _segments(place)[: len(segments)] == segments else -1


def same_place(first: str, second: str) -> bool:
    """Whether each of two prefixes lies below the other."""
    return depth_below(first, second) >= 0 and depth_below(second, first) >= 0


def same_server(first: str, second: str) -> bool:
    """Whether protocol, host and port are the same."""
    return _server(split(first)) == _server(split(second))


def _server(parts: SplitResult) -> tuple[str, str, int | None]:
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or default


def _segments(parts: SplitResult) -> list[str]:
    path = parts.path.rstrip("/").removesuffix(".git").lower()
    return [segment for segment in path.split("/") if segment]
