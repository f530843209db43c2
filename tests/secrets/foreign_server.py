"""Another server that records all requests and asks for a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests import http_servers


@dataclass
class Listener:
    """Records complete `requests`: the first line, the headers and the body."""

    url: str = ""
    requests: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return all recorded text."""
        return "\n\n".join(self.requests)


@contextmanager
def listening() -> Iterator[Listener]:
    """Start a server on a new port; all servers of the tests share a host."""
    listener = Listener()
    handler = type("Handler", (_Handler,), {"listener": listener})
    with http_servers.serving(handler) as listener.url:
        yield listener


class _Handler(http_servers.Handler):
    listener: Listener

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.listener.requests.append(
            f"{self.requestline}\n{self.headers}{body.decode('utf-8', 'replace')}"
        )
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="another"')
        self.send_header("Content-Length", "0")
        self.end_headers()
