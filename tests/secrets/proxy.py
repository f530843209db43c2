"""A server that forwards requests to the sandbox and changes the responses."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests import http_servers

LENGTHS = frozenset({"content-length", "transfer-encoding", "connection"})


@dataclass(frozen=True)
class Answered:
    """The first line of a request, and its response."""

    method: str
    path: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes


Meddle = Callable[[Answered], Answered]


@dataclass
class Between:
    """A server whose `meddle` changes each response."""

    behind: str
    meddle: Meddle
    url: str = ""


@contextmanager
def between(behind: str, meddle: Meddle) -> Iterator[Between]:
    """Start a server on a new port; `behind` is the URL of the real server."""
    proxy = Between(behind, meddle)
    handler = type("Handler", (_Handler,), {"between": proxy})
    with http_servers.serving(handler) as proxy.url:
        yield proxy


def redirected(to: str, status: int, *, end: str = "") -> Meddle:
    """Redirect every request whose path has this end."""

    def meddle(answered: Answered) -> Answered:
        if not urlsplit(answered.path).path.endswith(end):
            return answered
        headers = [("Location", to + answered.path)]
        return Answered(answered.method, answered.path, status, headers, b"")

    return meddle


def linked(own: Callable[[], str], to: str) -> Meddle:
    """Replace all URLs in responses, and add a link to a next page elsewhere."""

    def meddle(answered: Answered) -> Answered:
        old, new = own().encode(), to.encode()
        headers = [(name, value.replace(own(), to)) for name, value in answered.headers]
        headers = [header for header in headers if header[0].lower() != "link"]
        headers.append(("Link", f'<{to}{answered.path.partition("?")[0]}?page=2>; rel="next"'))
        body = answered.body.replace(old, new)
        return Answered(answered.method, answered.path, answered.status, headers, body)

    return meddle


class _Handler(http_servers.Handler):
    protocol_version = "HTTP/1.1"
    between: Between

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        connection = http.client.HTTPConnection(urlsplit(self.between.behind).netloc, timeout=60)
        # With this Host, the links in responses point to this server.
        connection.request(self.command, self.path, body or None, dict(self.headers))
        answer = connection.getresponse()
        answered = self.between.meddle(
            Answered(self.command, self.path, answer.status, answer.getheaders(), answer.read())
        )
        connection.close()
        self.send_response(answered.status)
        for name, value in answered.headers:
            if name.lower() not in LENGTHS:
                self.send_header(name, value)
        if answered.status != 204:
            self.send_header("Content-Length", str(len(answered.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answered.body)
