"""The private key of a GitHub App."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization

from kalypso_actions.clients.github import AppAuth
from kalypso_actions.errors import UsageError
from tests.clients.github.app_keys import key, pem
from tests.clients.github.connections import NOON


@pytest.mark.parametrize(
    "text",
    [
        pem(),
        pem("PKCS8"),
        pem().replace("\n", "\\n"),
        f"\n{pem()}  \n",
        pem().replace("\n", "\r\n"),
    ],
    ids=["traditional", "PKCS #8", "on one line", "with spaces around", "from Windows"],
)
def test_keys_in_the_forms_that_secrets_have(text: str) -> None:
    assert AppAuth("1234", text).sign(NOON).count(".") == 2


def encrypted() -> str:
    return (
        key()
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
        .decode()
    )


def public() -> str:
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return key().public_key().public_bytes(encoding, form).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hush",
        "-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----",
        encrypted(),
        public(),
    ],
    ids=["empty", "no key", "broken", "with a password", "public"],
)
def test_invalid_keys(text: str) -> None:
    with pytest.raises(UsageError, match="the GitHub App's private key cannot be used") as caught:
        AppAuth("1234", text)
    assert "hush" not in str(caught.value)


def test_an_id_is_needed() -> None:
    with pytest.raises(UsageError, match="the GitHub App's id is empty"):
        AppAuth(" ", pem())


def test_no_text_holds_the_key() -> None:
    assert pem().splitlines()[1] not in repr(AppAuth("1234", pem()))
