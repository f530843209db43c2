"""The server: keep-alive, concurrent requests, and shutdown."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.wrappers import Request, Response

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.dispatcher import SentResponse
from kalypso_sandbox.server import Server, _Handler


def echo(request: Request) -> SentResponse:
    """Return the request; `/half` and `/nothing` end the connection."""
    content = request.get_data()
    response = Response(f"{request.method} {request.path} ".encode() + content)
    match request.path:
        case "/half":
            return SentResponse(response, "half")
        case "/nothing":
            return SentResponse(response, "nothing")
        case "/broken":
            raise ValueError("broken")
        case "/empty":
            return SentResponse(Response(status=204))
    return SentResponse(response)


@contextmanager
def connected() -> Iterator[http.client.HTTPConnection]:
    with Server(echo) as server:
        parts = urlsplit(server.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            yield connection
        finally:
            connection.close()


def get(connection: http.client.HTTPConnection, path: str, **more: Any) -> bytes:
    connection.request("GET", path, **more)
    return connection.getresponse().read()


def test_a_connection_stays() -> None:
    with connected() as connection:
        assert get(connection, "/a") == b"GET /a "
        kept = connection.sock
        assert get(connection, "/b") == b"GET /b "
        assert get(connection, "/empty") == b""
        assert get(connection, "/c") == b"GET /c "
        assert connection.sock is kept


def test_bodies() -> None:
    content = bytes(range(256)) * 8192
    with connected() as connection:
        assert get(connection, "/a", body=content) == b"GET /a " + content
        chunks = iter([b"one", b"two", content])  # of unknown length, so sent piece by piece
        got = get(connection, "/a", body=chunks)
        assert got == b"GET /a onetwo" + content
        connection.request("HEAD", "/abc")
        answer = connection.getresponse()
        assert (answer.headers["Content-Length"], answer.read()) == ("10", b"")
        assert get(connection, "/a") == b"GET /a "


def test_answers_that_do_not_come_whole() -> None:
    with connected() as connection:
        with pytest.raises(http.client.IncompleteRead) as caught:
            get(connection, "/half")
        assert (caught.value.partial, caught.value.expected) == (b"GET /", 5)
        connection.close()
        with pytest.raises(http.client.RemoteDisconnected):
            get(connection, "/nothing")
        connection.close()
        assert get(connection, "/a") == b"GET /a "


def test_a_client_that_expects_continue_gets_it() -> None:
    with Server(echo) as server:
        parts = urlsplit(server.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
            head = b"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
            connection.sendall(head + b"\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"abc")
            assert connection.recv(1 << 16).endswith(b"POST /a abc")


def test_a_failure_is_logged_and_ends_one_connection(caplog: pytest.LogCaptureFixture) -> None:
    with connected() as connection:
        with pytest.raises(http.client.RemoteDisconnected):
            get(connection, "/broken")
        connection.close()
        assert get(connection, "/a") == b"GET /a "
    assert "ValueError: broken" in caplog.text


def test_invalid_http(caplog: pytest.LogCaptureFixture) -> None:
    with Server(echo) as server:
        parts = urlsplit(server.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
            connection.sendall(b"\x1b[31m nonsense\r\n\r\n")
            assert b"400" in connection.recv(1 << 16)
    assert "\x1b" not in caplog.text


def test_many_requests_wait_at_the_same_time() -> None:
    """Each request waits until all have arrived."""
    together = threading.Barrier(100)

    def answer(_: Request) -> SentResponse:
        together.wait(timeout=60)
        return SentResponse(Response("x"))

    with Server(answer) as server, ThreadPoolExecutor(100) as threads:
        parts = urlsplit(server.url)

        def ask(_: int) -> bytes:
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
            try:
                return get(connection, "/")
            finally:
                connection.close()

        assert list(threads.map(ask, range(100))) == [b"x"] * 100


def test_the_end_does_not_wait_for_idle_connections() -> None:
    before = set(threading.enumerate())
    with Server(echo) as server:
        parts = urlsplit(server.url)
        idle = [
            socket.create_connection((parts.hostname, parts.port), timeout=60) for _ in range(3)
        ]
        idle[0].sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle[0].recv(1 << 16)
    assert set(threading.enumerate()) <= before  # some of these may have ended by themselves
    for connection in idle:
        connection.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((parts.hostname, parts.port), timeout=60)


def test_a_port_in_use() -> None:
    with Server(echo) as server:
        port = urlsplit(server.url).port or 0
        with pytest.raises(KalypsoError, match=f"the port {port} cannot be used") as caught:
            Server(echo, port=port)
    assert caught.value.problem.advice == "choose another one with --port"


def test_an_idle_connection_is_no_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Handler, "timeout", 0.1)
    with connected() as connection:
        connection.request("GET", "/a")
        connection.getresponse().read()
        connection.sock.settimeout(10)
        assert connection.sock.recv(1) == b""  # the server has closed it
    assert [record.getMessage() for record in caplog.records] == []
