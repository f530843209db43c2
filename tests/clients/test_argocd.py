"""The API of Argo CD: answers, refusals, retries, and to whom the token goes."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from typing import Any

import pytest
import requests
import responses

from kalypso_actions.clients import argocd as argocd_client
from kalypso_actions.clients.argocd import LONGEST_RETRY, ArgoCD, JsonReader
from kalypso_actions.errors import KalypsoError

SERVER = "https://argocd.acme.example/team"
API = f"{SERVER}/api/v1"
TOKEN = "a-token-of-argocd"


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, tzinfo=UTC)
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock() as mock:
        yield mock


@pytest.fixture
def argocd(clock: Clock) -> ArgoCD:
    return ArgoCD(f"{SERVER}/", TOKEN, {}, now=lambda: clock.time, sleep=clock.sleep)


def test_lists(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    item = {
        "metadata": {"name": "a", "managedFields": [1]},
        "spec": {"source": {"path": "edge", "helm": {"values": "x" * 1000}}},
        "status": {
            "resources": [{"kind": "Application", "name": "b"}, {"kind": "Pod"}],
            "history": [{}],
        },
    }
    server.get(f"{API}/applications", json={"items": [item]})
    server.get(f"{API}/clusters", json={"items": [{"name": "n", "server": "https://n:6443/"}]})
    assert argocd.applications("team=web") == (
        {
            "metadata": {"name": "a"},
            "spec": {"source": {"path": "edge"}},
            "status": {"resources": [{"kind": "Application", "name": "b"}]},
        },
    )
    assert argocd.cluster_names() == {"https://n:6443": "n"}
    assert server.calls[0].request.url == f"{API}/applications?selector=team%3Dweb"
    assert server.calls[0].request.headers["Authorization"] == f"Bearer {TOKEN}"


def test_nothing_to_show_is_null(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    server.get(f"{API}/applications", json={"metadata": {}, "items": None})
    server.get(f"{API}/clusters", json={"metadata": {}, "items": None})
    assert (argocd.applications(), argocd.cluster_names()) == ((), {})


def test_clusters_that_the_token_may_not_list(
    server: responses.RequestsMock, argocd: ArgoCD
) -> None:
    server.get(f"{API}/clusters", status=403, json={"error": "permission denied"})
    assert argocd.cluster_names() is None


@pytest.mark.parametrize(("value", "sees"), [("yes", True), ("no", False), ("Yes", False)])
def test_permissions(
    server: responses.RequestsMock, argocd: ArgoCD, value: str, sees: bool
) -> None:
    server.get(f"{API}/account/can-i/applications/get/*/*", json={"value": value})
    assert argocd.sees_all_applications() is sees


def test_the_version(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    server.get(f"{SERVER}/api/version", json={"Version": "v3.5.1+4b0aee3"})
    assert argocd.version() == "v3.5.1+4b0aee3"


@pytest.mark.parametrize(
    ("status", "body", "about", "pauses"),
    [
        (401, '{"error": "no session information"}', "answers 401: no session information", 0),
        (403, '{"message": "permission denied"}', "answers 403: permission denied", 0),
        (404, "not here", "answers 404: not here", 0),
        (429, "slow down", "answers 429: slow down", 4),
        (503, "upstream connect error", "answers 503: upstream connect error", 4),
        (200, "<html>login</html>", "no JSON object: '<html>login</html>'", 0),
        (200, "[]", "no JSON object", 0),
        (200, '{"items": [', "no JSON object", 0),
        (200, "[" * 100_000, "no JSON object", 0),
    ],
)
def test_answers_that_are_none(
    server: responses.RequestsMock,
    argocd: ArgoCD,
    clock: Clock,
    status: int,
    body: str,
    about: str,
    pauses: int,
) -> None:
    server.get(f"{API}/applications", status=status, body=body)
    with pytest.raises(KalypsoError) as raised:
        argocd.applications()
    assert about in str(raised.value)
    assert TOKEN not in str(raised.value)
    assert len(clock.pauses) == pauses
    assert sum(clock.pauses) < LONGEST_RETRY.total_seconds()


def lost() -> requests.ConnectionError:
    return requests.ConnectionError("connection reset")


@pytest.mark.parametrize("failure", [lost, lambda: 502, lambda: 429])
def test_a_failure_passes(
    server: responses.RequestsMock,
    argocd: ArgoCD,
    clock: Clock,
    failure: Callable[[], Any],
) -> None:
    fault = failure()
    if isinstance(fault, int):
        server.get(f"{API}/applications", status=fault, headers={"Retry-After": "7"})
    else:
        server.get(f"{API}/applications", body=fault)
    server.get(f"{API}/applications", json={"items": []})
    assert argocd.applications() == ()
    assert clock.pauses == ([7.0] if isinstance(fault, int) else [1.0])


def test_a_server_that_does_not_answer(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    server.get(f"{API}/applications", body=lost())
    with pytest.raises(KalypsoError, match="does not answer: connection reset"):
        argocd.applications()


def test_no_redirect_is_followed(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    server.get(
        f"{API}/applications", status=302, headers={"Location": "https://evil.example/login"}
    )
    with pytest.raises(KalypsoError, match=r"302: it redirects to https://evil\.example/login"):
        argocd.applications()
    assert len(server.calls) == 1


def test_a_certificate_that_is_not_trusted(server: responses.RequestsMock, argocd: ArgoCD) -> None:
    server.get(f"{API}/applications", body=requests.exceptions.SSLError("self-signed"))
    with pytest.raises(KalypsoError, match="certificate") as raised:
        argocd.applications()
    assert "REQUESTS_CA_BUNDLE" in raised.value.problem.advice


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        " { } \n",
        '{"items": null, "metadata": {}}',
        '{"metadata": {"resourceVersion": "1"}, "items": []}',
        '{"items":[{"name":"a"},{"name":"\u2026 \U0001f680 \\" ]}"}], "n": 12345}',
        '{"a": [1, 2.5, -3e2, true, [[]]], "b": "x"}',
    ],
)
def test_json_in_parts(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argocd_client, "PART", size)
    content = text.encode()
    parts = (content[at : at + size] for at in range(0, len(content), size))
    assert JsonReader(parts).read_object() == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "1", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a":[1,]}', '{"a":[1'),
        *("{1:2}", "{} {}", '{"a" 1}', "{,}", '{"a":1]', "nul", '{"a":"\xff"}', '{"a":[}'),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        JsonReader(iter([text.encode("latin-1")])).read_object()


@pytest.mark.slow
def test_the_memory_of_thousands_of_applications() -> None:
    """5,000 list items of 11 kB with letters that Python stores in four bytes each."""
    values = "key: \U0001f680 value\n" * 230
    source = {"path": "edge", "helm": {"values": values}}
    item = {
        "metadata": {"name": "a"},
        "spec": {"source": source},
        "status": {"sync": {"comparedTo": {"source": source}}},
    }
    text = json.dumps(item, ensure_ascii=False).encode()
    parts = chain([b'{"items":[', text], repeat(b"," + text, 4_999), [b"]}"])
    tracemalloc.start()
    answer = JsonReader(parts).read_object()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(answer["items"]) == 5_000
    assert peak < 50_000_000


def test_a_server_that_answers_slowly(server: responses.RequestsMock, clock: Clock) -> None:
    def now() -> datetime:
        clock.time += timedelta(minutes=1)
        return clock.time

    argocd = ArgoCD(SERVER, TOKEN, {}, now=now, sleep=clock.sleep)
    server.get(f"{API}/applications", body=json.dumps({"items": ["x" * 1_000_000] * 5}))
    with pytest.raises(KalypsoError, match="answers for more than 180 s"):
        argocd.applications()
