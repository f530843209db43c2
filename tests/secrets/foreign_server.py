"""Another server that records all requests and asks for a password."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    listener.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    listener: Listener

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Every method is the same."""
        if name.startswith("do_"):
            return self._note
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _note(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.listener.requests.append(
            f"{self.requestline}\n{self.headers}{body.decode('utf-8', 'replace')}"
        )
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="another"')
        self.send_header("Content-Length", "0")
        self.end_headers()
