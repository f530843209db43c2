"""A git server over HTTP on a loopback port, which notes what it is asked."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.git_repositories import ENVIRONMENT


@dataclass
class Server:
    """`root` holds the repositories; `answers` replaces the answer for a path's beginning."""

    root: Path
    url: str = ""
    answers: dict[str, list[tuple[int, Mapping[str, str]]]] = field(default_factory=dict)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)


@contextmanager
def serving(root: Path) -> Iterator[Server]:
    """Serve the bare repositories below `root` by `git http-backend`."""
    server = Server(root)
    handler = type("Handler", (_Handler,), {"noted": server})
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    noted: Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self._body()
        self.noted.requests.append((self.command, self.path, self.headers["Authorization"]))
        for start, answers in self.noted.answers.items():
            if self.path.startswith(start) and answers:
                status, headers = answers.pop(0)
                self._send(status, headers, b"")
                return
        self._backend(body)

    def _body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            **ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(self.noted.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self._send(int(headers.pop("Status", "200").split()[0]), headers, content)

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
