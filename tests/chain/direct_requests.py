"""Requests of the commands under test that the sandbox answers without a socket.

Half of the processor time of a command's test is HTTP. Tests of the server, of the clients and of
whole jobs send requests over HTTP, and so do git, people, and commands while a fault or an event
during a request is expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse
from werkzeug.wrappers import Request

from kalypso_sandbox import Sandbox

UNPREFIXED: Final = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}
"""Headers whose names WSGI does not begin with `HTTP_`."""


@contextmanager
def direct_requests(sandbox: Sandbox) -> Iterator[None]:
    """Answer requests to the sandbox in the thread that sends them."""
    over_http = HTTPAdapter.send
    prefix = f"{sandbox.url}/"

    def send(
        adapter: HTTPAdapter, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        is_disturbed = any(True for _ in sandbox.faults) or sandbox.interruptions.pending
        if is_disturbed or not str(request.url).startswith(prefix):
            return over_http(adapter, request, *args, **options)
        sent = sandbox.answer(Request(_environ(request)))
        assert sent.part == "whole"
        is_head = request.method == "HEAD"
        content = HTTPResponse(
            body=BytesIO(b"" if is_head else sent.response.get_data()),
            headers=HTTPHeaderDict(sent.response.headers.items()),
            status=sent.response.status_code,
            reason=sent.response.status.partition(" ")[2],
            preload_content=False,
        )
        return adapter.build_response(request, content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HTTPAdapter, "send", send)
        yield


def _environ(request: requests.PreparedRequest) -> dict[str, Any]:
    """Return the WSGI environment of a request.

    https://peps.python.org/pep-3333/#environ-variables
    """
    url = urlsplit(str(request.url))
    body = request.body or b""
    content = body.encode() if isinstance(body, str) else body
    assert isinstance(content, bytes)
    target = f"{url.path}?{url.query}" if url.query else url.path
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(url.path, "latin-1"),
        "QUERY_STRING": url.query,
        "REQUEST_URI": target,
        "RAW_URI": target,
        "SERVER_NAME": url.hostname,
        "SERVER_PORT": str(url.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": url.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": BytesIO(content),
        "CONTENT_LENGTH": str(len(content)),
    }
    for name, value in request.headers.items():
        key = UNPREFIXED.get(name.lower(), f"HTTP_{name.upper().replace('-', '_')}")
        environ[key] = value
    return environ
