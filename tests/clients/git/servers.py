"""A git server over HTTP on a loopback port that records requests and can fail."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from tests import http_servers
from tests.git_repositories import ENVIRONMENT

PUSH = "/git-receive-pack"
"""The end of the path of a push request."""

FaultKind = Literal["dropped", "lost", "cut", "meanwhile"]


@dataclass(frozen=True)
class Fault:
    """A fault of one request, whose path has this end.

    dropped     the server closes the connection before it acts
    lost        it closes the connection after it has acted
    cut         it closes the connection after half of the response
    meanwhile   it calls `act` before it executes the request
    """

    end: str
    kind: FaultKind
    act: Callable[[], object] = lambda: None


@dataclass
class Server:
    """`root` holds the repositories; `answers` replaces the answer for a path's beginning."""

    root: Path
    url: str = ""
    answers: dict[str, list[tuple[int, Mapping[str, str]]]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)

    def asked(self, end: str) -> int:
        """Return the number of requests whose path has this end."""
        return sum(path.endswith(end) for _, path, _ in self.requests)


@contextmanager
def serving(
    root: Path, *, certificate: Path | None = None, keep_connections: bool = False
) -> Iterator[Server]:
    """Serve the bare repositories below `root` by `git http-backend`.

    `certificate` is a file with a certificate for 127.0.0.1 and its key: then it speaks TLS.
    """
    server = Server(root)
    version = "HTTP/1.1" if keep_connections else "HTTP/1.0"
    handler = type("Handler", (_Handler,), {"noted": server, "protocol_version": version})
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate else None
    if tls and certificate:
        tls.load_cert_chain(certificate)
    with http_servers.serving(handler, tls) as server.url:
        yield server


class _Handler(http_servers.Handler):
    noted: Server

    def answer(self) -> None:
        if self.command == "CONNECT":  # a tunnel, which https needs through a proxy
            self.noted.requests.append((self.command, self.path, self.headers["Authorization"]))
            self._send(403, {}, b"")
            return
        body = self._body()
        parts = urlsplit(self.path)  # a proxy gets whole URLs
        path = parts._replace(scheme="", netloc="").geturl()
        self.noted.requests.append((self.command, path, self.headers["Authorization"]))
        for start, answers in self.noted.answers.items():
            if path.startswith(start) and answers:
                self._send(*answers.pop(0), b"")
                return
        fault = next((f for f in self.noted.faults if path.endswith(f.end)), None)
        if fault:
            self.noted.faults.remove(fault)
            fault.act()
        if fault and fault.kind == "dropped":
            self._hang_up()
            return
        answer = self._backend(parts.path, parts.query, body)
        if fault and fault.kind == "lost":
            self._hang_up()
        else:
            self._send(*answer, cut=fault is not None and fault.kind == "cut")

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _backend(self, path: str, query: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
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
        return int(headers.pop("Status", "200").split()[0]), headers, content

    def _send(
        self, status: int, headers: Mapping[str, str], content: bytes, *, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self._hang_up()
