"""A webhook: what is sent, and that no error tells its URL."""

from __future__ import annotations

import json

import pytest
import requests
import responses

from kalypso_actions.clients.webhook import send
from kalypso_actions.errors import KalypsoError

URL = "https://hooks.example.com/services/SECRET"


@responses.activate
def test_a_message_is_posted_once() -> None:
    responses.post(URL, status=200)
    send(URL, {"text": "a"}, {})
    (call,) = responses.calls
    assert json.loads(call.request.body or "") == {"text": "a"}


@responses.activate
@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 500},
        {"status": 302, "headers": {"Location": "https://elsewhere.example.com"}},
        {"body": requests.ConnectionError(f"cannot reach {URL}")},
    ],
)
def test_a_failure_names_the_host_alone(answer: dict[str, object]) -> None:
    responses.post(URL, **answer)
    with pytest.raises(KalypsoError, match=r"hooks\.example\.com") as raised:
        send(URL, {"text": "a"}, {})
    assert "SECRET" not in str(raised.value)
    assert len(responses.calls) == 1


@pytest.mark.parametrize("url", ["http://hooks.example.com/x", "hooks", "file:///etc/passwd"])
def test_only_https_is_used(url: str) -> None:
    with pytest.raises(KalypsoError, match="no https URL"):
        send(url, {}, {})
