"""A GitHub server: github.com, or GitHub Enterprise Server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import SplitResult, urljoin, urlsplit

from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.errors import UsageError
from kalypso_actions.model.urls import is_loopback, name_in, repository_key

API_URL: Final = "https://api.github.com"
SERVER_URL: Final = "https://github.com"

PORTS: Final = {"http": 80, "https": 443}


class ForeignUrlError(GitHubError):
    """A URL does not belong to the API; it gets no request, and above all no credential."""


@dataclass(frozen=True, slots=True)
class GitHubServer:
    """The URL of the API, and the URL of the website and of git; neither ends with a slash."""

    api_url: str = API_URL
    server_url: str = SERVER_URL

    def __post_init__(self) -> None:
        for name, variable in (("api_url", "GITHUB_API_URL"), ("server_url", "GITHUB_SERVER_URL")):
            url = getattr(self, name).rstrip("/")
            _check(url, variable)
            object.__setattr__(self, name, url)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read GITHUB_API_URL and GITHUB_SERVER_URL, which default to github.com.

        Raises UsageError if only one is set: a token for one server must not go to another.
        """
        api_url = environment.get("GITHUB_API_URL", "")
        server_url = environment.get("GITHUB_SERVER_URL", "")
        if bool(api_url) != bool(server_url):
            names = ("GITHUB_API_URL", "GITHUB_SERVER_URL")
            present, absent = names if api_url else reversed(names)
            raise UsageError(
                f"{present} is set, but {absent} is not",
                advice="set both, as GitHub Actions does, or neither for github.com",
            )
        return cls(api_url, server_url) if api_url else cls()

    @property
    def graphql_url(self) -> str:
        """The URL of the GraphQL API; GitHub Enterprise Server has `/api/graphql` and `/api/v3`."""
        return self.api_url.removesuffix("/v3") + "/graphql"

    @property
    def noreply_domain(self) -> str:
        """The domain of the accounts' mail addresses; for the sandbox, that of github.com."""
        host = urlsplit(self.server_url).hostname or ""
        return f"users.noreply.{'github.com' if is_loopback(self.server_url) else host}"

    @property
    def git_protocols(self) -> frozenset[str]:
        """The protocols for git: http only if the server itself uses it, on this machine."""
        return frozenset({"https", urlsplit(self.server_url).scheme})

    def api(self, url: str, *, seen_from: str = "") -> str:
        """Return the absolute URL of a path of the API, or of a URL that GitHub has sent.

        `seen_from` is the URL of the request whose response contained `url`. Raises ForeignUrlError
        for a URL outside of the API, and for `.` or `..` in the path.
        """
        if seen_from:
            whole = _joined(seen_from, url)
        else:
            whole = self.api_url + url if url.startswith("/") else url
        parts = _split(whole)
        if {".", ".."} & set(parts.path.split("/")):
            raise ForeignUrlError(
                f"the path {parts.path} contains . or ..",
                advice="correct the name of the repository, branch or file",
            )
        base = urlsplit(self.api_url)
        inside = parts.path in {base.path, urlsplit(self.graphql_url).path}
        inside |= parts.path.startswith(base.path + "/")
        if _origin(parts) == _origin(base) and inside:
            return whole
        place = f"{parts.scheme}://{parts.hostname}" if parts.hostname else "no server"
        raise ForeignUrlError(
            f"GitHub sends a URL of {place}, outside of {self.api_url}",
            advice="set GITHUB_API_URL to the URL of the API in the server's own responses",
        )

    def owner(self, url: str) -> str | None:
        """Return the owner in a repository's URL; None for a URL of another server."""
        parts = _split(url)
        server = urlsplit(self.server_url)
        prefix = server.path + "/"
        if _origin(parts) != _origin(server) or not parts.path.startswith(prefix):
            return None
        return parts.path.removeprefix(prefix).partition("/")[0] or None

    def name_of(self, urls: Iterable[str]) -> str:
        """Return owner/name of the first URL on this server, also in git's forms; "" if none is."""
        prefix = f"{repository_key(self.server_url)}/"
        return next((name_in(url) for url in urls if repository_key(url).startswith(prefix)), "")


def _check(url: str, variable: str) -> None:
    parts = _split(url)
    if parts.scheme not in PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(
            f"{variable} is not the URL of a server", advice="https://github.example.com"
        )
    if parts.username is not None:
        raise UsageError(f"{variable} contains a user name", advice="give the token as an input")
    if parts.scheme == "http" and not is_loopback(url):
        raise UsageError(
            f"{variable} is not encrypted: http://{parts.hostname}",
            advice="use https; http is only for servers on this machine",
        )


def _split(url: str) -> SplitResult:
    """Split a URL; an invalid one has only empty parts."""
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
