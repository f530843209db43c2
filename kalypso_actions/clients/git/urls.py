"""URLs of repositories: check them, compare them, and find those below a prefix."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import is_loopback, normal_url, split, without_secret

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")
"""Control characters, and surrogates that cannot be passed to a program."""


def accepted_url(url: str, protocols: frozenset[str]) -> str:
    """Return a URL in the form for git. Raises KalypsoError if git must not get the URL.

    `protocols`: `https`, `http`, `ssh`, `file` (local paths too). If https is among them, http is
    allowed only for this machine.
    """
    scheme = split(url).scheme
    where = Location(without_secret(url))
    if scheme == "file":
        _check_path(url, where)
    else:
        url = normal_url(url)
    if scheme not in protocols:
        allowed = " and ".join(sorted(protocols))
        message = f"repositories are read by {allowed} only, not by {scheme}"
        advice = "write the URL with https" if "https" in protocols else ""
        raise KalypsoError(message, where, advice)
    if scheme == "http" and "https" in protocols and not is_loopback(url):
        message = "repositories are read by http from this machine only (127.0.0.1, localhost)"
        raise KalypsoError(message, where, "write the URL with https")
    return url


def _check_path(url: str, where: Location) -> None:
    if url.startswith("-"):
        raise KalypsoError("the URL of a repository must not begin with '-'", where)
    if not url or CONTROL.search(url) or "::" in url.partition("/")[0]:
        raise KalypsoError("this is not the URL of a repository", where)


def is_path(url: str) -> bool:
    """Return whether a URL is a path on this machine, without a scheme."""
    return "://" not in url and split(url).scheme == "file"


def clone_key(url: str) -> str:
    """Return a key that is equal for URLs that can share a clone.

    The key ignores the host's case, a final `/` and `.git`. It keeps the protocol and the user,
    because others may see less, and the path's case, because it may matter to the server.
    """
    parts = split(url)
    path = parts.path.rstrip("/").removesuffix(".git")
    return parts._replace(netloc=parts.netloc.lower(), path=path).geturl()


def depth_below(url: str, prefix: str) -> int:
    """Return the number of path segments in `prefix` if `url` is below it, else -1.

    Only https and http URLs are below a prefix: ssh has its own keys.
    """
    parts, prefix_parts = split(url), split(prefix)
    segments = _segments(prefix_parts)
    if parts.scheme not in {"https", "http"} or _server(parts) != _server(prefix_parts):
        return -1
    return len(segments) if _segments(parts)[: len(segments)] == segments else -1


def same_place(first: str, second: str) -> bool:
    """Return whether two prefixes are equal, that is, each is below the other."""
    return depth_below(first, second) >= 0 and depth_below(second, first) >= 0


def same_server(first: str, second: str) -> bool:
    """Return whether protocol, host and port are the same."""
    return _server(split(first)) == _server(split(second))


def _server(parts: SplitResult) -> tuple[str, str, int | None]:
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or default


def _segments(parts: SplitResult) -> list[str]:
    path = parts.path.rstrip("/").removesuffix(".git").lower()
    return [segment for segment in path.split("/") if segment]
