"""The text of a query → its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from kalypso_sandbox.azure.kql.syntax import QueryError, Token

TOKENS: Final = re.compile(
    r"""
      (?P<blank>\s+ | //[^\n]*)
    | (?P<text>'(?:[^'\\\r\n]|\\[^\r\n])*' | "(?:[^"\\\r\n]|\\[^\r\n])*")
    | (?P<number>\d{1,18})
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>==|=~|!=|[|(),.=\[\]])
    | (?P<stray>.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|(?P<letter>.))")
LETTERS: Final = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


def tokens(text: str) -> Iterator[Token]:
    """Yield all tokens, and an end token. Raises QueryError."""
    for match in TOKENS.finditer(text):
        kind = str(match.lastgroup)
        token = Token(kind, match[0], None, *_position(text, match.start()))
        if kind == "stray":
            raise QueryError.at(token)
        if kind == "text":
            yield replace(token, value=ESCAPE.sub(partial(_meaning, token), match[0][1:-1]))
        elif kind != "blank":
            yield replace(token, value=int(match[0])) if kind == "number" else token
    yield Token("end", "<EOF>", None, *_position(text, len(text)))


def _position(text: str, position: int) -> tuple[int, int]:
    """Return the line and column of a position."""
    return text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1)


def _meaning(token: Token, escape: re.Match[str]) -> str:
    """Return the character of an escape sequence."""
    if escape["code"]:
        return chr(int(escape["code"], 16))
    if escape["letter"] not in LETTERS:
        raise QueryError.at(token)
    return LETTERS[escape["letter"]]
