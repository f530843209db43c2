"""Requests without a response: the reason, and whether GitHub may have acted."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
import responses
from requests import exceptions

from kalypso_actions.clients.github import GitHub, GitHubError
from kalypso_sandbox.certificates import server_context
from tests.clients.github import connections
from tests.clients.github.connections import API, Clock, Reply, connect, scripted

ATTEMPTS = [1.0, 2.0, 4.0, 8.0]


def write(github: GitHub) -> object:
    return connections.write(github, "acme/fleet", "POST", "/issues", {})


def failed(github: GitHub) -> GitHubError:
    with pytest.raises(GitHubError) as caught:
        write(github)
    return caught.value


def test_an_untrusted_certificate_is_reported_at_once(tmp_path: Path) -> None:
    clock = Clock()
    context, _ = server_context(tmp_path, datetime.now(UTC))
    with scripted(tls=context) as script:
        error = failed(connect(clock, url=script.url))
    assert "the server's certificate is not trusted" in str(error)
    assert "SSL_CERT_FILE" in error.problem.advice
    assert (error.uncertain, clock.waits) == (False, [])


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_of_the_environment_is_trusted(tmp_path: Path, variable: str) -> None:
    context, authority = server_context(tmp_path, datetime.now(UTC))
    with scripted(Reply(201, {"id": 1}), tls=context) as script:
        github = connect(url=script.url, environment={variable: str(authority)})
        assert write(github) == {"id": 1}


def test_a_name_that_cannot_be_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    clock = Clock()
    error = failed(connect(clock))
    assert "the server's name cannot be resolved" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)


def test_a_proxy_that_does_not_answer() -> None:
    with scripted() as script:
        proxy = script.url
    clock = Clock()
    error = failed(connect(clock, environment={"HTTPS_PROXY": proxy}))
    assert "the proxy cannot be reached, or refuses the connection" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)


def test_a_proxy_that_refuses_sees_no_token() -> None:
    clock = Clock()
    with scripted(*[Reply(407, {})] * 5) as proxy:
        error = failed(connect(clock, environment={"HTTPS_PROXY": proxy.url}))
    assert "the proxy cannot be reached, or refuses the connection" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)
    assert proxy.requests == ["CONNECT api.github.com:443"] * 5
    assert proxy.authorizations == [None] * 5


@pytest.mark.parametrize(
    ("raised", "words", "uncertain"),
    [
        (requests.ConnectTimeout(), "the server cannot be reached", False),
        (requests.ReadTimeout(), "the server did not answer in time", True),
        (requests.ConnectionError("reset"), "the connection was lost", True),
        (exceptions.SSLError("EOF occurred"), "the connection was lost", True),
        (exceptions.ChunkedEncodingError(), "the connection was lost", True),
        (exceptions.ContentDecodingError(), "the connection was lost", True),
        (exceptions.InvalidURL("hush"), "the request cannot be sent (InvalidURL)", False),
        (OSError("hush"), "the request cannot be sent (OSError)", False),
    ],
)
def test_what_failures_mean(raised: Exception, words: str, uncertain: bool) -> None:
    with responses.RequestsMock() as server:
        server.post(f"{API}/repos/acme/fleet/issues", body=raised)
        error = failed(connect())
    assert str(error).startswith(f"acme/fleet: it cannot be written: {words}")
    assert error.uncertain == uncertain
    assert "hush" not in str(error)
    assert error.__cause__ is None
