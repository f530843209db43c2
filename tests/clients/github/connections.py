"""Connections for tests: a clock that only sleep moves, and a server with scripted replies."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from kalypso_actions.clients.github import AppAuth, GitHub, GitHubServer, TokenAuth, rest
from tests import http_servers

API = "https://api.github.com"
REPOSITORY_URL = f"{API}/repos/acme/fleet"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "ghp_0123456789abcdefghij"


@dataclass
class Clock:
    """Only `sleep` moves it."""

    now: datetime = NOON
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)


def connect(
    clock: Clock | None = None,
    *,
    url: str = "",
    auth: TokenAuth | AppAuth | None = None,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> GitHub:
    """Return a connection to github.com, or to a server at `url`."""
    clock = clock or Clock()
    server = GitHubServer(url, url) if url else GitHubServer()
    auth = auth or TokenAuth(TOKEN)
    return GitHub(server, auth, environment or {}, clock.sleep, lambda: clock.now, **more)


def read(github: GitHub, repository: str, path: str, **query: str) -> Any:
    """Return the JSON of a path after that of the repository."""
    answer = github.call(
        repository, "it cannot be read", lambda target: rest.read(target, path, query)
    )
    if isinstance(answer, dict) and "url" in answer:
        del answer["url"]  # which PyGithub adds
    return answer


def read_optional(github: GitHub, repository: str, path: str) -> Any:
    return github.call_optional(
        repository, "it cannot be read", lambda target: rest.read(target, path)
    )


def read_all(github: GitHub, repository: str, path: str, **query: str) -> Any:
    return github.call(
        repository, "it cannot be listed", lambda target: rest.read_all(target, path, query)
    )


def write(
    github: GitHub,
    repository: str,
    method: str,
    path: str,
    body: Any = None,
    advice: Mapping[str, str] | None = None,
) -> Any:
    return github.call(
        repository,
        "it cannot be written",
        lambda target: rest.send(target, method, path, body),
        advice=advice,
    )


@dataclass(frozen=True)
class Reply:
    """A response; `cut` bytes of its body are missing."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


class Dropped:
    """The connection ends without a response."""


@dataclass
class Scripted:
    """A server that sends these replies in order; `{url}` in a header becomes its own URL."""

    replies: list[Reply | Dropped]
    url: str = ""
    requests: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)


@contextmanager
def scripted(*replies: Reply | Dropped, tls: ssl.SSLContext | None = None) -> Iterator[Scripted]:
    script = Scripted(list(replies))
    handler = type("Handler", (_Handler,), {"script": script})
    with http_servers.serving(handler, tls) as script.url:
        yield script


class _Handler(http_servers.Handler):
    script: Scripted

    def answer(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.script.requests.append(f"{self.command} {self.path}")
        self.script.authorizations.append(self.headers["Authorization"])
        reply = self.script.replies.pop(0)
        self.close_connection = True
        if isinstance(reply, Dropped):
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value.format(url=self.script.url))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - reply.cut])
