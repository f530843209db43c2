"""A private package index, as companies have them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import http_servers

CREDENTIAL = "reader:of-the-index"


@dataclass
class Index:
    """An index: its URL with user and password, and the paths of the requests that had both."""

    url: str
    requests: list[str] = field(default_factory=list)


@contextmanager
def index_of(wheels: Path) -> Iterator[Index]:
    """Serve the wheels of a folder to those who know the password."""
    index = Index("")

    class Handler(http_servers.Handler):
        def answer(self) -> None:
            authorization = f"Basic {base64.b64encode(CREDENTIAL.encode()).decode()}"
            if self.headers.get("authorization") != authorization:
                self._send(401, b"")
                return
            index.requests.append(self.path)
            wheel = wheels / self.path.rpartition("/")[2]
            if self.path == "/simple/marble/":
                links = (
                    f'<a href="/files/{path.name}">{path.name}</a>' for path in wheels.iterdir()
                )
                self._send(200, "".join(links).encode())
            elif self.path.startswith("/files/") and wheel.is_file():
                self._send(200, wheel.read_bytes())
            else:
                self._send(404, b"")

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            kind = "text/html" if self.path.endswith("/") else "application/octet-stream"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            if status == 401:
                self.send_header("www-authenticate", 'Basic realm="index"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    with http_servers.serving(Handler) as url:
        index.url = f"{url.replace('://', f'://{CREDENTIAL}@')}/simple"
        yield index
