"""The forms in which a text can contain a secret."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from functools import cache
from urllib.parse import quote

LONG = 16
"""The number of characters that reveal a secret; shorter pieces occur elsewhere by chance."""


def found(secrets: Iterable[str], text: str) -> list[str]:
    """Return the secrets in a text, in any form; each by its first characters."""
    return [f"{secret[:8]}…" for secret in secrets if any(form in text for form in forms(secret))]


@cache
def forms(secret: str) -> tuple[str, ...]:
    """Return the forms of a secret: as it is, in a URL, and within a longer text in base64.

    Each line of a secret counts, because logs separate them.
    """
    return tuple(dict.fromkeys(_forms(secret)))


def _forms(secret: str) -> Iterator[str]:
    for line in secret.splitlines():
        if len(line) >= LONG and not line.startswith("-----"):
            yield line
            yield quote(line, safe="")
            for offset in range(3):
                yield from _base64(line.encode(), offset)


def _base64(secret: bytes, offset: int) -> Iterator[str]:
    """Return the part of the base64 that is certain for a secret at this offset."""
    padded = bytes(offset) + secret
    whole = padded[: len(padded) // 3 * 3]
    start = 4 if offset else 0
    for encoded in (base64.b64encode(whole), base64.urlsafe_b64encode(whole)):
        yield encoded.decode()[start:]
