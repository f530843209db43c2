"""The client over real connections, to a server with behaviour that `responses` cannot fake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest

from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.errors import KalypsoError
from tests import http_servers
from tests.clients.resource_graph.azure import (
    ACCESS_TOKEN,
    REPOSITORY,
    SUBSCRIPTION,
    FakeCredential,
    Waits,
    page,
    row,
)

Way = Literal["answered", "dropped", "truncated", "redirected"]


@dataclass
class Server:
    """Answers in the listed ways, then correctly; `seen` are paths and Authorization headers."""

    ways: list[Way] = field(default_factory=list)
    redirect: str = ""
    url: str = ""
    seen: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def serving(*ways: Way, redirect: str = "") -> Iterator[Server]:
    server = Server(list(ways), redirect)
    handler = type("Handler", (_Handler,), {"noted": server})
    with http_servers.serving(handler) as server.url:
        yield server


class _Handler(http_servers.Handler):
    noted: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.noted.seen.append((self.path, self.headers["Authorization"]))
        way = self.noted.ways.pop(0) if self.noted.ways else "answered"
        self.close_connection = True
        if way == "dropped":
            return
        body = json.dumps({"value": "assertion", **page([row("a")])}).encode()
        self.send_response(307 if way == "redirected" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if way == "redirected":
            self.send_header("Location", self.noted.redirect + self.path)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if way == "truncated" else body)


def client(server: Server, waits: Waits) -> ResourceGraph:
    cloud = cloud_of("public", {"KALYPSO_AZURE_RESOURCE_MANAGER": server.url})
    return ResourceGraph(
        FakeCredential(),
        cloud=cloud,
        scopes=[SUBSCRIPTION],
        # Nobody listens there: requests to this machine use no proxy.
        environment={"HTTP_PROXY": "http://127.0.0.1:9"},
        sleep=waits.sleep,
        now=waits.now,
    )


@pytest.mark.parametrize("way", ["dropped", "truncated"])
def test_a_connection_that_breaks_is_tried_again(way: Way) -> None:
    waits = Waits()
    with serving(way) as server, client(server, waits) as graph:
        assert len(graph.cluster_reports(REPOSITORY, "dev")) == 1
    assert waits.slept == [1.0]
    path = "/providers/Microsoft.ResourceGraph/resources?api-version=2021-03-01"
    assert server.seen == [(path, f"Bearer {ACCESS_TOKEN}")] * 2


def test_the_access_token_follows_no_redirect() -> None:
    with (
        serving() as other,
        serving("redirected", redirect=other.url) as server,
        client(server, Waits()) as graph,
        pytest.raises(KalypsoError, match="307"),
    ):
        graph.cluster_reports(REPOSITORY, "dev")
    assert (len(server.seen), other.seen) == (1, [])


def test_the_token_of_the_job_follows_no_redirect() -> None:
    with serving() as other, serving("redirected", redirect=other.url) as server:
        job = {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{server.url}/idtoken",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token",
        }
        credential = azure_credential(
            client_id=SUBSCRIPTION,
            tenant_id=SUBSCRIPTION,
            credentials="",
            cloud=cloud_of("public", {}),
            environment=job,
        )
        with pytest.raises(KalypsoError, match="status 307"):
            credential.get_token("https://management.azure.com/.default")
    assert server.seen == [
        ("/idtoken?audience=api%3A%2F%2FAzureADTokenExchange", "Bearer request-token")
    ]
    assert other.seen == []
