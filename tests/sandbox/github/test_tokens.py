"""The identity of an Authorization header, and the accepted JWTs of an App."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.tokens import authenticate, issue, new_key, token_of_header
from kalypso_sandbox.store import App, Identity, Installation, Store
from tests.git_repositories import programs
from tests.sandbox.served_sandbox import NOON

PRIVATE, PUBLIC = new_key()
SECONDS = int(NOON.timestamp())


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.fixture
def made(tmp_path: Path) -> Store:
    made = Store.open(tmp_path, lambda: NOON, programs())
    app = App(id=7, slug="kalypso", public_key=PUBLIC, permissions={"contents": "read"})
    app.installations["Acme"] = Installation(id=8)
    made.apps[7] = app
    return made


def refused(made: Store, authorization: str) -> str:
    with pytest.raises(RefusedError) as caught:
        authenticate(made, authorization)
    return f"{caught.value.status} {caught.value.message}"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("token x", "x"),
        ("Token x", "x"),
        ("Bearer x", "x"),
        ("bearer  x ", "x"),
        (basic("x-access-token", "x"), "x"),
        (basic("anybody", "x"), "x"),
        (basic("x", ""), "x"),
        (basic("x", "x-oauth-basic"), "x"),
        ("Basic x", ""),
        ("Basic " + base64.b64encode(b"\xff").decode(), ""),
        ("Digest x", ""),
        ("x", ""),
        ("", ""),
    ],
)
def test_the_token_in_a_header(header: str, token: str) -> None:
    assert token_of_header(header) == token


def test_an_issued_token_speaks_for_its_identity(made: Store) -> None:
    tokens = {
        kind: issue(
            made, Identity(kind=kind, login=f"{kind}-login", permissions={}, owner="acme", app_id=7)
        )
        for kind in ("user", "actions", "installation")
    }
    assert [token[:4] for token in tokens.values()] == ["gith", "ghs_", "ghs_"]
    for kind, token in tokens.items():
        assert authenticate(made, f"token {token}").login == f"{kind}-login"
        assert made.account(f"{kind}-login").id
    assert authenticate(made, "").login == ""


@pytest.mark.parametrize("header", ["token x", "Bearer a.b", "x", "Basic x"])
def test_an_unknown_token(made: Store, header: str) -> None:
    assert refused(made, header) == "401 Bad credentials"


def test_a_token_ends(made: Store) -> None:
    for life, valid in ((1, True), (0, False), (-1, False)):
        ends = NOON + timedelta(seconds=life)
        token = issue(made, Identity(kind="actions", login="a", permissions={}, expires_at=ends))
        if valid:
            assert authenticate(made, f"token {token}").login == "a"
        else:
            assert refused(made, f"token {token}") == "401 Bad credentials"


def test_a_suspended_installation(made: Store) -> None:
    identity = Identity(kind="installation", login="a", permissions={}, owner="acme", app_id=7)
    token = issue(made, identity)
    assert authenticate(made, f"token {token}") == identity
    made.apps[7].installations["Acme"].suspended = True
    assert refused(made, f"token {token}") == "403 This installation has been suspended"


def claims(**changes: Any) -> dict[str, Any]:
    given = {"iat": SECONDS - 60, "exp": SECONDS + 540, "iss": "7", **changes}
    return {name: value for name, value in given.items() if value is not None}


def own_jwt(content: Any) -> str:
    """Return a JWT with contents that a library refuses to write."""

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    text = f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(content)}"
    key = serialization.load_pem_private_key(PRIVATE.encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    signature = key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


@pytest.mark.parametrize("issuer", ["7", 7, "Iv1.0000000000000007"])
def test_the_jwt_of_an_app(made: Store, issuer: Any) -> None:
    token = own_jwt(claims(iss=issuer))
    identity = authenticate(made, f"Bearer {token}")
    assert (identity.kind, identity.login, identity.app_id) == ("app", "kalypso", 7)
    assert identity.permissions == {"contents": "read"}


ISSUED = "401 'Issued at' claim ('iat') must be an Integer"
EXPIRES = "401 'Expiration time' claim ('exp') must be a numeric value"
FAR = "401 'Expiration time' claim ('exp') is too far in the future"
UNDECODABLE = "401 A JSON web token could not be decoded"


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"exp": SECONDS + 600}, ""),
        ({"exp": SECONDS + 601}, FAR),
        ({"exp": SECONDS}, EXPIRES),
        ({"exp": SECONDS - 1}, EXPIRES),
        ({"exp": None}, EXPIRES),
        ({"exp": "soon"}, EXPIRES),
        ({"iat": SECONDS}, ""),
        ({"iat": SECONDS + 1}, ISSUED),
        ({"iat": None}, ISSUED),
        ({"iss": "8"}, "404 Integration not found"),
        ({"iss": None}, UNDECODABLE),
        ({"iss": "kalypso"}, "404 Integration not found"),
        ({"iss": "Iv1.0000000000000008"}, "404 Integration not found"),
    ],
)
def test_the_claims_of_a_jwt(made: Store, changes: dict[str, Any], answer: str) -> None:
    header = f"Bearer {own_jwt(claims(**changes))}"
    if answer:
        assert refused(made, header).startswith(answer)
    else:
        assert authenticate(made, header).kind == "app"


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda token: token[:-6] + "AAAAAA",
        lambda token: token.rsplit(".", 1)[0] + ".",
        lambda token: token.rsplit(".", 1)[0] + ".é",
        lambda token: "e30." + token.split(".", 1)[1],
        lambda token: "W10." + token.split(".", 1)[1],
        lambda _: jwt.encode(claims(), new_key()[0], algorithm="RS256"),
        lambda _: jwt.encode(claims(), "s" * 64, algorithm="HS256"),
        lambda _: "x.y.z",
    ],
    ids=["signature", "unsigned", "no base64", "no algorithm", "a list", "key", "secret", "words"],
)
def test_a_jwt_that_its_app_has_not_signed(made: Store, spoiled: Callable[[str], str]) -> None:
    token = spoiled(jwt.encode(claims(), PRIVATE, algorithm="RS256"))
    assert refused(made, f"Bearer {token}") == UNDECODABLE
