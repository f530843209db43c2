"""An HTTP/1.1 server on the loopback address: a thread for each connection, with keep-alive.

Flask's own server closes each connection, and cannot end one without a response. This server uses
Flask's parser for requests, and writes responses itself.
"""

from __future__ import annotations

import logging
import selectors
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from http.server import HTTPServer
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Any, Final, Self

from werkzeug.serving import WSGIRequestHandler
from werkzeug.wrappers import Request, Response

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.dispatcher import SentResponse

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
IDLE_TIMEOUT: Final = 300.0
"""Seconds after which the server closes an idle connection."""


class Server:
    """Serves in its own thread while the context is open.

    Raises KalypsoError if the port is in use.
    """

    def __init__(
        self,
        answer: Callable[[Request], SentResponse],
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        try:
            listening = socket.create_server((HOST, port), backlog=512)
        except OSError as error:
            message = f"the port {port} cannot be used: {error.strerror}"
            raise KalypsoError(message, advice="choose another one with --port") from error
        self._server = _Listener(listening, answer, tls)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="sandbox", daemon=True
        )

    @property
    def url(self) -> str:
        """Return the server's URL."""
        scheme = "https" if self._server.ssl_context else "http"
        return f"{scheme}://{HOST}:{self._server.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.stop()
        self._thread.join()
        self._server.end_connections()


class _Listener(ThreadingMixIn, HTTPServer):
    daemon_threads = True
    multithread, multiprocess = True, False  # `WSGIRequestHandler` reads them

    def __init__(
        self,
        listening: socket.socket,
        answer: Callable[[Request], SentResponse],
        tls: ssl.SSLContext | None,
    ) -> None:
        super().__init__(listening.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.port: int = listening.getsockname()[1]
        self.answer = answer
        # The listening socket has no TLS, so that each connection's thread does its own handshake.
        self.ssl_context = tls
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        # Closing one end makes the other one readable.
        self._running, self._stopped = socket.socketpair()

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Accept connections until `stop`. Unlike the library's method, do not poll."""
        del poll_interval
        with self._stopped, selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            selector.register(self._stopped, selectors.EVENT_READ)
            while self._stopped not in [key.fileobj for key, _ in selector.select()]:
                self.handle_request()
        self.server_close()

    def stop(self) -> None:
        """Let `serve_forever` end."""
        self._running.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        with self._lock:
            self._connections[request] = thread
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                del self._connections[request]

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.ssl_context is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(IDLE_TIMEOUT)
        with self.ssl_context.wrap_socket(request.dup(), server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, *_: Any, **__: Any) -> None:
        expected = isinstance(sys.exception(), OSError)
        log.log(logging.DEBUG if expected else logging.ERROR, "a request failed", exc_info=True)

    def end_connections(self) -> None:
        """End open connections, and wait for their threads."""
        with self._lock:
            remaining = dict(self._connections)
        for connection in remaining:
            _shut_down(connection)
        for thread in remaining.values():
            thread.join(timeout=10)


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # send head and body together
    timeout = IDLE_TIMEOUT
    server_version = "github.com"
    server: _Listener  # type: ignore[assignment]  # it is not a server of werkzeug

    def run_wsgi(self) -> None:
        sent = self.server.answer(Request(self.make_environ()))
        if sent.part != "nothing":
            content = self._write_head(sent.response)
            self.wfile.write(content if sent.part == "whole" else content[: len(content) // 2])
            self.wfile.flush()
        if sent.part != "whole":
            self.close_connection = True
            _shut_down(self.connection)

    def handle_expect_100(self) -> bool:
        """Send the interim response at once, because the client waits for it to send the body."""
        continues = super().handle_expect_100()
        self.wfile.flush()
        return continues

    def _write_head(self, response: Response) -> bytes:
        """Write status and headers, and return the body."""
        content = response.get_data()
        self.send_response(response.status_code)
        for name, value in response.headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        if response.status_code != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return b"" if self.command == "HEAD" else content

    def version_string(self) -> str:
        return self.server_version

    def log_request(self, *_: Any, **__: Any) -> None:
        """Log nothing: `dispatcher` records requests."""

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        # The library reports an idle connection as an error, to standard error.
        log.debug("%r", format % args)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        log.debug("%r", format % args)


def _shut_down(connection: socket.socket) -> None:
    """Shut the connection down; its thread closes it."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        log.debug("the connection is closed already")
