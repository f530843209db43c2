"""A package index of one's own, as companies have them."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CREDENTIAL = "reader:of-the-index"


@dataclass
class Index:
    """Its address, with a user and password; the paths that were asked with these."""

    url: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def index_of(wheels: Path) -> Iterator[Index]:
    """Serve the wheels of a folder to those who know the password."""
    index = Index("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = f"Basic {base64.b64encode(CREDENTIAL.encode()).decode()}"
            if self.headers.get("authorization") != wanted:
                self._answer(401, b"")
                return
            index.asked.append(self.path)
            wheel = wheels / self.path.rpartition("/")[2]
            if self.path == "/simple/marble/":
                links = (
                    f'<a href="/files/{path.name}">{path.name}</a>' for path in wheels.iterdir()
                )
                self._answer(200, "".join(links).encode())
            elif self.path.startswith("/files/") and wheel.is_file():
                self._answer(200, wheel.read_bytes())
            else:
                self._answer(404, b"")

        do_HEAD = do_GET  # noqa: N815 - the library's name

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            kind = "text/html" if self.path.endswith("/") else "application/octet-stream"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            if status == 401:
                self.send_header("www-authenticate", 'Basic realm="index"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    index.url = f"http://{CREDENTIAL}@127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
