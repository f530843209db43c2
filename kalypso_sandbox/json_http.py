"""JSON over HTTP: parse requests as strictly as GitHub does, write answers, sign tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import jwt
from werkzeug.wrappers import Response

Json = Any
"""A value that `json` reads and writes."""

MAX_DEPTH: Final = 100
"""The maximum number of levels of nested lists and objects."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON body; None means no body."""

    status: int
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the HTTP response, with further headers."""
        content = b"" if self.body is None else json.dumps(self.body).encode()
        response = Response(content, self.status, content_type="application/json; charset=utf-8")
        if self.body is None:
            del response.headers["Content-Type"]
        for name, value in {**(headers or {}), **self.headers}.items():
            response.headers[name] = value
        return response


def parse(content: bytes) -> Json:
    """Parse JSON in UTF-8; Python's parser is more lenient.

    Raises ValueError for `NaN` and infinities, for lone surrogates, which no file or response can
    contain, and for deep nesting.
    """
    text = content.decode("utf-8")
    try:
        value = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(value, 0)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def sign(claims: Mapping[str, Json], key: bytes) -> str:
    """Return a signed token with these claims."""
    return jwt.encode(dict(claims), key, algorithm="HS256")


def read_signed(token: str, key: bytes) -> Mapping[str, Json] | None:
    """Return the claims of a token; None if this key did not sign it.

    Callers check the claims, and refuse in the words of their server.
    """
    try:
        claims = parse(jwt.PyJWS().decode(token, key, algorithms=["HS256"]))
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


def _check_depth(value: Json, depth: int) -> None:
    if not isinstance(value, (dict, list)):
        return
    if depth == MAX_DEPTH:
        raise ValueError("nested too deep")
    for child in value.values() if isinstance(value, dict) else value:
        _check_depth(child, depth + 1)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")
