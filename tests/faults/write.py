"""One write of the clients: its preparation, the call, and the request that hits a fault.

`R` in an endpoint stands for `/repos/{owner}/{repo}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from kalypso_sandbox import Exchange
from tests.faults.trials import Act

TOKENS: Final = "/app/installations/{installation_id}/access_tokens"
GRAPHQL: Final = "/graphql"


@dataclass(frozen=True)
class Write:
    """A call that writes.

    `endpoint`     method and path of the request that the faults hit
    `can_be_found` whether the client can look the write up, so that it never writes twice
    `is_recent`    whether the call itself has written or listed the object of that request
    `half_open`    the number of issues or pull requests that are open while one replaces another
    """

    name: str
    endpoint: tuple[str, str]
    prepare: Act
    act: Act
    can_be_found: bool = True
    is_recent: bool = False
    half_open: int | None = None

    @property
    def can_lag(self) -> bool:
        """Whether GitHub may not know the object of the request yet."""
        path = self.endpoint[1]
        return "_number}" in path or path.endswith(("/statuses/{sha}", "/pulls"))

    @property
    def by_git(self) -> bool:
        """Whether the write is a push."""
        return self.endpoint[1].endswith("git-receive-pack")

    def asks(self, exchange: Exchange) -> bool:
        """Tell whether a request is the one that the faults hit."""
        method, path = self.endpoint
        named = path == exchange.template or fnmatchcase(exchange.path, path)
        return named and exchange.method == method


def write(
    name: str,
    endpoint: str,
    act: Act,
    prepare: Act = lambda _: None,
    *,
    can_be_found: bool = True,
    is_recent: bool = False,
    half_open: int | None = None,
) -> Write:
    method, _, path = endpoint.partition(" ")
    path = path.replace("R/", "/repos/{owner}/{repo}/")
    return Write(name, (method, path), prepare, act, can_be_found, is_recent, half_open)
