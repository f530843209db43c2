"""Signed claims: a header, a JSON object and a signature, each in base64, joined by dots.

Nobody but this server checks them, so one key of its own signs them all.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final

HEADER: Final = {"typ": "JWT", "alg": "HS256"}


def sign(claims: Mapping[str, Any], key: bytes) -> str:
    """A token with these claims."""
    content = ".".join(_encoded(json.dumps(part).encode()) for part in (HEADER, claims))
    return f"{content}.{_encoded(_signature(content, key))}"


def read(token: str, key: bytes) -> Mapping[str, Any] | None:
    """The claims of a token; None unless this key has signed it."""
    content, _, signature = token.rpartition(".")
    try:
        given = _decoded(signature)
        if not hmac.compare_digest(given, _signature(content, key)):
            return None
        claims: Mapping[str, Any] = json.loads(_decoded(content.partition(".")[2]))
    except ValueError:
        return None
    return claims


def _signature(content: str, key: bytes) -> bytes:
    return hmac.digest(key, content.encode(), hashlib.sha256)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
