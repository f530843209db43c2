"""Which credential a URL gets, and the table of them that a user writes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from kalypso_actions.clients.git.urls import check_url, depth_below, same_place
from kalypso_actions.errors import KalypsoError, Problem, UsageError

Authorize = Callable[[str], str]
"""The value of the header Authorization for a URL, "" for none.

It is asked before every call, so that a token which was renewed meanwhile is used.
"""

NAME: Final = "git-credentials"

SHORTEST_SECRET: Final = 8


def no_credential(_: str) -> str:
    """Everything is public."""
    return ""


def basic(user: str, token: str) -> str:
    """The header's value for a user name and a password or token (RFC 7617)."""
    login = f"{user}:{token}".encode("utf-8", "surrogateescape")
    return "Basic " + base64.b64encode(login).decode("ascii")


def without_credential(text: str, header: str) -> str:
    """`text` without the credential of a header's value, in whatever form it stands there.

    What is too short for a token would be found in any text.
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
    """URL prefix -> value of the header Authorization; a prefix without a scheme means https.

    A prefix covers its server and, with a path, what lies below that path; the longest one wins.
    """

    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read lines `host-or-URL-prefix=user:token`; empty ones and those after # say nothing.

        Raises UsageError with every line that is wrong, by its number alone: any part of such a
        line may be the token.
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
                headers[prefix] = basic(user, token)
        if faults:
            raise UsageError.of(faults)
        return cls(headers)

    def authorize(self, url: str) -> str:
        """The header's value for `url`; only https (and http) URLs get one."""
        best, found = -1, ""
        for prefix, header in self.headers.items():
            depth = depth_below(url, _complete(prefix))
            if depth > best:
                best, found = depth, header
        return found


def _complete(prefix: str) -> str:
    return prefix if "://" in prefix else f"https://{prefix}"


def _faults(prefix: str, login: str, token: str, known: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with a line, the first thing first."""
    if not login:
        yield "there is no = with a credential behind it"
    if ":" not in login or not token:
        yield "there is no user:token behind the ="
    try:
        check_url(_complete(prefix), frozenset({"https", "http"}))
        is_prefix = not set(prefix) & set("?#")
    except KalypsoError:
        is_prefix = False
    if not is_prefix:
        yield "what stands before the = is not a host or the beginning of an https URL"
    if any(same_place(_complete(prefix), _complete(other)) for other in known):
        yield "an earlier line has the same host or URL"
