"""The credential for a URL, and the table of credentials that a user writes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from kalypso_actions.clients.git.urls import accepted_url, depth_below, same_place
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.model.urls import normal_url

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
    def parse(cls, text: str) -> Self:
        """Parse lines of `host-or-URL-prefix=user:token`; skip empty lines and `#` comments.

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
                faults.append(Problem(f"line {number} of {NAME}: {message}", advice=advice))
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
