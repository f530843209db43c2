"""Secrets are found in every form."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from tests.secrets.secret_forms import found

TOKEN = "ghs_0123456789abcdef/+0123456789ab~~~"
KEY = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nqwertzuiopasdfgh\n-----END KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {TOKEN}",
        f"https://x-access-token:{quote(TOKEN, safe='')}@github.com",
        *(base64.b64encode(f"{'x' * n}:{TOKEN}yz".encode()).decode() for n in range(6)),
        base64.urlsafe_b64encode(f"x-access-token:{TOKEN}".encode()).decode(),
    ],
)
def test_a_token_in_any_form(text: str) -> None:
    assert found([TOKEN], f"before {text} behind") == ["ghs_0123…"]


def test_a_line_of_a_key() -> None:
    assert found([KEY], "… MIIEpAIBAAKCAQEA …")


@pytest.mark.parametrize("text", ["", "ghs_0123456789", "-----BEGIN KEY-----", "ghs_***"])
def test_texts_without_a_secret(text: str) -> None:
    assert found([TOKEN, KEY], text) == []
