"""Anchors, aliases, tags and directives."""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.cursor import BLANK_OR_END, BLANKS, Cursor
from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.tokens import Kind, Token

NAME: Final = re.compile("[0-9A-Za-z_-]+")
AFTER_ANCHOR: Final = BLANK_OR_END | frozenset("?:,]}%@`")
HANDLE: Final = re.compile("![0-9A-Za-z_-]*!?")
URI: Final = re.compile(r"[0-9A-Za-z_;/?:@&=+$,.!~*'()\[\]%-]*")
OCTETS: Final = re.compile("(?:%[0-9A-Fa-f]{2})+")
VERSION: Final = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}(?![0-9])")


def scan_anchor(cursor: Cursor, kind: Kind) -> Token:
    """Read `&name` or `*name`."""
    line = cursor.line
    cursor.position += 1
    name = cursor.take(NAME)
    if not name or cursor.peek() not in AFTER_ANCHOR:
        raise YAMLError("did not find expected alphabetic or numeric character", line)
    return Token(kind, line, name)


def scan_tag(cursor: Cursor) -> Token:
    """Read a tag: `text` is its handle ("" for a complete tag), `suffix` the rest."""
    line = cursor.line
    if cursor.peek(1) == "<":
        cursor.position += 2
        handle, suffix = "", _uri(cursor)
        if cursor.peek() != ">":
            raise YAMLError("did not find the expected '>'", line)
        cursor.position += 1
    else:
        handle = cursor.take(HANDLE)
        if len(handle) > 1 and handle.endswith("!"):
            suffix = _uri(cursor)
        else:
            suffix = handle[1:] + _uri(cursor, may_be_empty=True)
            # The lone `!` is a complete tag.
            handle, suffix = ("!", suffix) if suffix else ("", "!")
    if cursor.peek() not in BLANK_OR_END:
        raise YAMLError("did not find expected whitespace or line break", line)
    return Token(Kind.TAG, line, handle, suffix)


def scan_directive(cursor: Cursor) -> Token:
    """Read a line with `%YAML` or `%TAG`; raise `YAMLError` for other directives."""
    line = cursor.line
    cursor.position += 1
    name = cursor.take(NAME)
    if cursor.peek() not in BLANK_OR_END or name not in {"YAML", "TAG"}:
        raise YAMLError("found unknown directive name", line)
    cursor.skip(BLANKS)
    if name == "YAML":
        version = cursor.take(VERSION)
        if not version:
            raise YAMLError("did not find expected version number", line)
        token = Token(Kind.VERSION_DIRECTIVE, line, version)
    else:
        handle = cursor.take(HANDLE)
        if not handle.endswith("!") or not cursor.take(BLANKS):
            raise YAMLError("did not find expected tag handle", line)
        token = Token(Kind.TAG_DIRECTIVE, line, handle, _uri(cursor))
        if cursor.peek() not in BLANK_OR_END:
            raise YAMLError("did not find expected whitespace or line break", line)
    if not cursor.rest_of_line_is_comment():
        raise YAMLError("did not find expected comment or line break", line)
    return token


def _uri(cursor: Cursor, *, may_be_empty: bool = False) -> str:
    """Read a tag's URI and decode escapes such as `%41`, whose bytes must look like UTF-8."""
    uri = cursor.take(URI)
    if not uri and not may_be_empty:
        raise YAMLError("did not find expected tag URI", cursor.line)
    if "%" not in uri:
        return uri
    if "%" in OCTETS.sub("", uri):
        raise YAMLError("did not find URI escaped octet", cursor.line)

    def decoded(match: re.Match[str]) -> str:
        octets = bytes.fromhex(match[0].replace("%", ""))
        if not _ENCODED.fullmatch(octets):
            raise YAMLError("found an incorrect UTF-8 octet", cursor.line)
        return octets.decode("utf-8", "surrogateescape")

    return OCTETS.sub(decoded, uri)


_ENCODED: Final = re.compile(
    rb"(?:[\x00-\x7f]|[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3})*"
)
