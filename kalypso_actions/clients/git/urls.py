"""URLs of repositories: check and compare them, and find the credential for each."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import SplitResult

from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
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


Authorize = Callable[[str], str]
"""Returns the header Authorization for a URL, "" for none.

It is called before every call of git, because a token may have been renewed.
"""

NAME: Final = "git-credentials"

SHORTEST_SECRET: Final = 8


def no_credential(_: str) -> str:
    """Return no credential."""
    return ""


def basic(user: str, token: str) -> str:
    """Return the header for a user name and a password or token (RFC 7617)."""
    login = f"{user}:{token}".encode("utf-8", "surrogateescape")
    return "Basic " + base64.b64encode(login).decode("ascii")


def without_credential(text: str, header: str) -> str:
    """Mask the credential of a header in `text`, encoded or not.

    Texts shorter than a token stay, because a short text would match anywhere.
    """
    scheme, _, credential = header.partition(" ")
    secrets = [credential]
    if scheme == "Basic":
        secrets.append(base64.b64decode(credential).decode("utf-8", "replace").partition(":")[2])
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


@dataclass(frozen=True, slots=True)
class CredentialTable:
    """URL prefix -> header Authorization; a prefix without a scheme means https.

    A prefix with a path covers URLs below that path; a prefix without one covers the whole server.
    The longest prefix wins.
    """

    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def parse(cls, text: str, name: str = NAME) -> Self:
        """Parse lines of `host-or-URL-prefix=user:token`; skip empty lines and `#` comments.

        `name` is that of the input, for messages.
        Raises UsageError with the numbers of all invalid lines, but not their text, because any
        part of it may be the token.
        """
        headers: dict[str, str] = {}
        faults: list[Problem] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            prefix, _, login = (part.strip() for part in line.partition("="))
            user, _, token = login.partition(":")
            message = next(_faults(prefix, login, token, headers), "")
            if message:
                advice = "write each line as host-or-URL-prefix=user:token"
                faults.append(Problem(f"line {number} of {name}: {message}", advice=advice))
            else:
                headers[normal_url(_complete(prefix))] = basic(user, token)
        if faults:
            raise UsageError.of(faults)
        return cls(headers)

    def authorize(self, url: str) -> str:
        """Return the header for a URL; "" unless it is an https or http URL below a prefix."""
        longest, best = -1, ""
        for prefix, header in self.headers.items():
            depth = depth_below(url, _complete(prefix))
            if depth > longest:
                longest, best = depth, header
        return best


def _complete(prefix: str) -> str:
    return prefix if "://" in prefix else f"https://{prefix}"


def _faults(prefix: str, login: str, token: str, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the faults of a line."""
    if not login:
        yield "there is no = followed by a credential"
    if ":" not in login or not token:
        yield "there is no user:token after the ="
    try:
        accepted_url(_complete(prefix), frozenset({"https", "http"}))
    except KalypsoError:
        yield "the text before the = is not a host or the beginning of an https URL"
    if any(same_place(_complete(prefix), _complete(other)) for other in known):
        yield "an earlier line has the same host or URL"
