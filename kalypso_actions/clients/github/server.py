"""Which GitHub it is: github.com, or a company's own server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import SplitResult, urljoin, urlsplit

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.urls import is_loopback

API_URL: Final = "https://api.github.com"
SERVER_URL: Final = "https://github.com"

PORTS: Final = {"http": 80, "https": 443}


class ForeignUrlError(KalypsoError):
    """A URL is outside of the API: nothing is sent there, above all no credential."""


@dataclass(frozen=True, slots=True)
class GitHubServer:
    """Where the API answers and where people and git go; neither ends with a slash."""

    api_url: str = API_URL
    server_url: str = SERVER_URL

    def __post_init__(self) -> None:
        for name, variable in (("api_url", "GITHUB_API_URL"), ("server_url", "GITHUB_SERVER_URL")):
            url = getattr(self, name).rstrip("/")
            _check(url, variable)
            object.__setattr__(self, name, url)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Self:
        """As the runner says: GITHUB_API_URL and GITHUB_SERVER_URL; github.com without them.

        Raises UsageError where just one is set: a token for one server must not go to another.
        """
        api_url = environment.get("GITHUB_API_URL", "")
        server_url = environment.get("GITHUB_SERVER_URL", "")
        if bool(api_url) != bool(server_url):
            absent = "GITHUB_SERVER_URL" if api_url else "GITHUB_API_URL"
            raise UsageError(
                f"{absent} is not set, but its counterpart is",
                advice="set both, as GitHub Actions does, or neither for github.com",
            )
        return cls(api_url, server_url) if api_url else cls()

    @property
    def graphql_url(self) -> str:
        """`/graphql` beside the REST API: GitHub Enterprise Server has them in `/api`."""
        return self.api_url.removesuffix("/v3") + "/graphql"

    @property
    def git_protocols(self) -> frozenset[str]:
        """How git asks it: without TLS only where itself it has none, on this machine."""
        return frozenset({"https", urlsplit(self.server_url).scheme})

    def api(self, url: str, *, seen_from: str = "") -> str:
        """The absolute URL of `url`, which is a path of the API or one that GitHub itself named.

        `seen_from` is the request whose answer named it. Raises ForeignUrlError for another server,
        and for a name in the path that would make it another path.
        """
        if seen_from:
            whole = _joined(seen_from, url)
        else:
            whole = self.api_url + url if url.startswith("/") else url
        parts = _split(whole)
        if {".", ".."} & set(parts.path.split("/")):
            raise ForeignUrlError(
                f"{parts.path} has . or .. among its names",
                Location(self.api_url),
                "correct the name of the repository, branch or file",
            )
        path = urlsplit(self.api_url).path
        inside = parts.path == path or parts.path.startswith(path + "/")
        if _origin(parts) == _origin(urlsplit(self.api_url)) and inside:
            return whole
        if whole == self.graphql_url:
            return whole
        place = f"{parts.scheme}://{parts.hostname}" if parts.hostname else "no server"
        raise ForeignUrlError(
            f"GitHub names a URL of {place}, outside of {self.api_url}",
            Location(self.api_url),
            "set GITHUB_API_URL to the URL by which the server itself knows its API",
        )

    def owner(self, url: str) -> str | None:
        """Whose repository a git URL of this server names; None for one of another server."""
        parts = _split(url)
        server = urlsplit(self.server_url)
        prefix = server.path + "/"
        if _origin(parts) != _origin(server) or not parts.path.startswith(prefix):
            return None
        return parts.path.removeprefix(prefix).partition("/")[0] or None


def _check(url: str, variable: str) -> None:
    parts = _split(url)
    if parts.scheme not in PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"{variable} is no URL of a server: it begins with https:// and a host")
    if parts.username is not None:
        raise UsageError(f"{variable} holds a user name", advice="give the token as an input")
    if parts.scheme == "http" and not is_loopback(url):
        raise UsageError(
            f"{variable} is not encrypted: http://{parts.hostname}",
            advice="use https; plain http is for servers on this machine",
        )


def _split(url: str) -> SplitResult:
    """The parts of a URL; what cannot be taken apart has none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)
