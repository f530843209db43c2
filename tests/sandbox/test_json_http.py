"""The accepted JSON."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.json_http import parse


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"a": [1, null, "\\u00e4"]}', {"a": [1, None, "ä"]}),
        (b'"\\ud83d\\ude00"', "😀"),
        ('"😀"'.encode(), "😀"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"[" * 100 + b"]" * 100, nested(100)),
    ],
)
def test_json(content: bytes, value: Any) -> None:
    assert parse(content) == value


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        '{"a": 1}'.encode("utf-16"),
        b'["\\ud800"]',
        b'{"\\udc00": 1}',
        b"NaN",
        b"[-Infinity]",
        b"9" * 5000,
        b"[" * 101 + b"]" * 101,
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda content: str(content[:12]),
)
def test_no_json(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(content)
