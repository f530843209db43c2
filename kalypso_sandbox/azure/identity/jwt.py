"""Signed tokens and assertions. The server signs all with one key, because only it checks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jwt
from jwt.types import Options

ALGORITHM: Final = "HS256"
SIGNATURE_ONLY: Final[Options] = {
    "verify_aud": False,
    "verify_exp": False,
    "verify_iat": False,
    "verify_iss": False,
    "verify_jti": False,
    "verify_nbf": False,
    "verify_sub": False,
}
"""The checks of the library, all off: callers check the claims, and refuse in Azure's words."""


def sign(claims: Mapping[str, Any], key: bytes) -> str:
    """Return a token with these claims."""
    return jwt.encode(dict(claims), key, algorithm=ALGORITHM)


def read(token: str, key: bytes) -> Mapping[str, Any] | None:
    """Return the claims of a token; None if this key did not sign it."""
    try:
        return jwt.decode(token, key, algorithms=[ALGORITHM], options=SIGNATURE_ONLY)
    except jwt.InvalidTokenError:
        return None
