"""Issue tokens, and find the identity of a request's Authorization header."""

from __future__ import annotations

import base64
import secrets
import string
from datetime import timedelta
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from kalypso_sandbox import json_http
from kalypso_sandbox.github.access import ANONYMOUS
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.store import Identity, Store

PREFIXES: Final = {"user": "github_pat_", "actions": "ghs_", "installation": "ghs_"}
LETTERS: Final = string.ascii_letters + string.digits
TOKEN_LIFETIME: Final = timedelta(hours=1)
"""The lifetime of the tokens of jobs and installations."""
MAX_JWT_LIFETIME: Final = 600
"""The longest validity of an App's JWT, in seconds."""

UNDECODABLE: Final = "A JSON web token could not be decoded"


def issue(store: Store, identity: Identity) -> str:
    """Issue a token for this identity, and drop expired tokens.

    Raises ValueError for an invalid login.
    """
    store.account(identity.login)
    for text, known in list(store.tokens.items()):
        if known.expires_at and known.expires_at <= store.now:
            del store.tokens[text]
    token = PREFIXES[identity.kind] + "".join(secrets.choice(LETTERS) for _ in range(36))
    store.tokens[token] = identity
    return token


def new_key() -> tuple[str, str]:
    """Return a new private and public key for an App, in PEM."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return pem.decode(), _public_pem(private)


def public_key(private_key: str) -> str:
    """Return the public key of a private one, in PEM. Raises ValueError for an invalid key."""
    return _public_pem(serialization.load_pem_private_key(private_key.encode(), password=None))


def _public_pem(private: PrivateKeyTypes) -> str:
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return public.decode()


def authenticate(store: Store, authorization: str) -> Identity:
    """Return the identity of `token X`, `Bearer X`, or Basic with the token as password or user.

    Raises RefusedError: 401 for an unknown or expired token, 403 for a suspended installation.
    """
    if not authorization:
        return ANONYMOUS
    token = token_of_header(authorization)
    identity = store.tokens.get(token)
    if identity is None and token.count(".") == 2:
        return _app(store, token)
    if identity is None or (identity.expires_at and identity.expires_at <= store.now):
        raise RefusedError(401, "Bad credentials")
    if identity.kind == "installation" and _is_suspended(store, identity):
        raise RefusedError(403, "This installation has been suspended")
    return identity


def token_of_header(authorization: str) -> str:
    """Return the token in a header, or ""."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() in {"token", "bearer"}:
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return ""
    return password if password not in {"", "x-oauth-basic"} else user


def _is_suspended(store: Store, identity: Identity) -> bool:
    app = store.apps.get(identity.app_id)
    installations = app.installations.items() if app else ()
    return not any(
        login.lower() == identity.owner.lower() and not installation.suspended
        for login, installation in installations
    )


def _app(store: Store, token: str) -> Identity:
    """Return the App that signed a JWT.

    https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
    """
    jws = jwt.PyJWS()
    try:
        claims = json_http.parse(jws.decode(token, options={"verify_signature": False}))
        issuer = claims["iss"]
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError, RecursionError):
        raise RefusedError(401, UNDECODABLE) from None
    app = next((known for known in store.apps.values() if issuer in known.issuers), None)
    if app is None:
        raise RefusedError(404, "Integration not found")
    try:
        jws.decode(token, app.public_key, algorithms=["RS256"])
    except jwt.InvalidTokenError:
        raise RefusedError(401, UNDECODABLE) from None
    _check_times(claims, int(store.now.timestamp()))
    return Identity(kind="app", login=app.slug, permissions=app.permissions, app_id=app.id)


def _check_times(claims: dict[str, Any], now: int) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, int) or issued > now:
        message = "must be an Integer representing the time that the assertion was issued"
        raise RefusedError(401, f"'Issued at' claim ('iat') {message}")
    if not isinstance(expires, int) or expires <= now:
        message = "must be a numeric value representing the future time at which the assertion"
        raise RefusedError(401, f"'Expiration time' claim ('exp') {message} expires")
    if expires > now + MAX_JWT_LIFETIME:
        raise RefusedError(401, "'Expiration time' claim ('exp') is too far in the future")
