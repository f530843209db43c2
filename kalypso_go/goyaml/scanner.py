"""Split a YAML text into tokens, accepting and rejecting the same texts as yaml.v2 2.4.0.

The difficulty of YAML is the simple key: in `a: 1`, only the colon shows that `a` is a key. So the
scanner records where a key may have begun, and at the colon inserts the KEY token (and
BLOCK_MAPPING_START, if the key opens a mapping) before tokens already in the queue. It returns a
token as soon as nothing can be inserted before it.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from kalypso_go.goyaml.cursor import BLANK_OR_END, BLANKS, BREAKS, END, SPACES, TO_LINE_END, Cursor
from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.scalar_texts import (
    at_document_marker,
    scan_block_scalar,
    scan_double_quoted,
    scan_plain,
    scan_single_quoted,
)


class TokenKind(Enum):
    """The kinds of tokens; indentation produces the block tokens."""

    STREAM_END = auto()
    VERSION_DIRECTIVE = auto()
    TAG_DIRECTIVE = auto()
    DOCUMENT_START = auto()
    DOCUMENT_END = auto()
    BLOCK_SEQUENCE_START = auto()
    BLOCK_MAPPING_START = auto()
    BLOCK_END = auto()
    BLOCK_ENTRY = auto()
    FLOW_SEQUENCE_START = auto()
    FLOW_SEQUENCE_END = auto()
    FLOW_MAPPING_START = auto()
    FLOW_MAPPING_END = auto()
    FLOW_ENTRY = auto()
    KEY = auto()
    VALUE = auto()
    ALIAS = auto()
    ANCHOR = auto()
    TAG = auto()
    SCALAR = auto()


@dataclass(slots=True, eq=False)
class Token:
    """One token, which begins in `line` (from 1).

    `text` is a scalar's value, an anchor's name, a tag's handle or a version; `suffix` is the rest
    of a tag or the prefix of a tag directive; a `plain` scalar has neither quotes nor indicator.
    """

    kind: TokenKind
    line: int
    text: str = ""
    suffix: str = ""
    plain: bool = field(default=False, kw_only=True)


LONGEST_KEY: Final = 1024
"""Characters between the beginning of a simple key and its colon."""

FLOW_STARTS: Final = {"[": TokenKind.FLOW_SEQUENCE_START, "{": TokenKind.FLOW_MAPPING_START}
FLOW_ENDS: Final = {"]": TokenKind.FLOW_SEQUENCE_END, "}": TokenKind.FLOW_MAPPING_END}

NEVER_PLAIN: Final = frozenset("\t|>%@`")
"""Characters that begin neither a token nor a plain scalar."""


class _PossibleKey:
    """A simple key may begin before the token of this `number`.

    If it is `required`, a missing colon is an error. It stops being `possible` when it has become a
    key, or can no longer become one.
    """

    __slots__ = ("column", "line", "number", "position", "possible", "required")

    def __init__(self, cursor: Cursor, number: int, *, possible: bool, required: bool) -> None:
        self.position = cursor.position
        self.line = cursor.line
        self.column = cursor.column
        self.number = number
        self.possible = possible
        self.required = required


class Scanner:
    """Produces the tokens of a text one after the other."""

    def __init__(self, text: str) -> None:
        """Start at the beginning; raise `YAMLError` for characters that YAML does not allow."""
        self.cursor = Cursor(text)
        self.queue: deque[Token] = deque()
        self.taken = 0
        self.indent = -1
        self.indents: list[int] = []
        self.key_allowed = True
        self.keys = [_PossibleKey(self.cursor, -1, possible=False, required=False)]
        """One for each level of flow collections, the block context first."""
        self.levels_by_number: dict[int, int] = {}
        """The level whose key may begin before the token of that number."""

    def peek(self) -> Token:
        """Return the next token; raise `YAMLError` if the text has none."""
        while not self.queue or self._key_may_begin_here():
            self._fetch()
        return self.queue[0]

    def take(self) -> Token:
        """Return the next token and remove it."""
        self.peek()
        self.taken += 1
        return self.queue.popleft()

    @property
    def in_flow(self) -> bool:
        """Whether the cursor is inside brackets or braces."""
        return len(self.keys) > 1

    def _add(self, kind: TokenKind) -> None:
        self.queue.append(Token(kind, self.cursor.line))

    def _fetch(self) -> None:
        """Find at least one more token."""
        cursor = self.cursor
        self._skip_to_token()
        self._close_blocks(cursor.column)
        character = cursor.peek()
        if character == END:
            self._fetch_stream_end()
        elif cursor.column == 0 and character == "%":
            self._leave_content()
            self.queue.append(scan_directive(cursor))
        elif at_document_marker(cursor):
            self._leave_content()
            self._add(TokenKind.DOCUMENT_START if character == "-" else TokenKind.DOCUMENT_END)
            cursor.position += 3
        elif character in FLOW_STARTS:
            self._fetch_flow_start(FLOW_STARTS[character])
        elif character in FLOW_ENDS:
            self._fetch_flow_end(FLOW_ENDS[character])
        elif character == ",":
            self._forget_key()
            self.key_allowed = True
            self._add_indicator(TokenKind.FLOW_ENTRY)
        elif character in "-?:" and self._is_indicator(character):
            self._fetch_indicator(character)
        else:
            self._fetch_content(character)

    def _is_indicator(self, character: str) -> bool:
        if self.cursor.peek(1) in BLANK_OR_END:
            return True
        return character != "-" and self.in_flow

    def _fetch_indicator(self, character: str) -> None:
        if character == "-":
            self._fetch_block_entry()
        elif character == "?":
            self._fetch_key()
        else:
            self._fetch_value()

    def _fetch_content(self, character: str) -> None:
        """Find an alias, an anchor, a tag or a scalar."""
        cursor = self.cursor
        line = cursor.line
        if character in "|>" and not self.in_flow:
            self._forget_key()
            self.key_allowed = True
            text = scan_block_scalar(cursor, self.indent)
            self.queue.append(Token(TokenKind.SCALAR, line, text))
            return
        self._note_possible_key()
        self.key_allowed = False
        if character == "*":
            token = scan_anchor(cursor, TokenKind.ALIAS)
        elif character == "&":
            token = scan_anchor(cursor, TokenKind.ANCHOR)
        elif character == "!":
            token = scan_tag(cursor)
        elif character == "'":
            token = Token(TokenKind.SCALAR, line, scan_single_quoted(cursor))
        elif character == '"':
            token = Token(TokenKind.SCALAR, line, scan_double_quoted(cursor))
        elif character in NEVER_PLAIN:
            raise YAMLError("found character that cannot start any token", line)
        else:
            text, self.key_allowed = scan_plain(cursor, self.indent + 1, in_flow=self.in_flow)
            token = Token(TokenKind.SCALAR, line, text, plain=True)
        self.queue.append(token)

    def _skip_to_token(self) -> None:
        cursor = self.cursor
        while True:
            # A tab is not indentation, so none is allowed where a block key may begin.
            cursor.skip(SPACES if self.key_allowed and not self.in_flow else BLANKS)
            if cursor.peek() == "#":
                cursor.skip(TO_LINE_END)
            if cursor.peek() not in BREAKS:
                return
            cursor.take_break()
            if not self.in_flow:
                self.key_allowed = True

    # Simple keys

    def _key_may_begin_here(self) -> bool:
        """Return whether a KEY may yet be inserted before the next token."""
        level = self.levels_by_number.get(self.taken)
        return level is not None and self._is_possible(self.keys[level])

    def _is_possible(self, key: _PossibleKey) -> bool:
        """Return whether a colon at the cursor would turn `key` into a key.

        Raises `YAMLError` if a required colon is missing.
        """
        if not key.possible:
            return False
        cursor = self.cursor
        if key.line == cursor.line and key.position + LONGEST_KEY >= cursor.position:
            return True
        if key.required:
            raise YAMLError("could not find expected ':'", key.line)
        key.possible = False
        return False

    def _note_possible_key(self) -> None:
        if not self.key_allowed:
            return
        self._forget_key()
        number = self.taken + len(self.queue)
        required = not self.in_flow and self.indent == self.cursor.column
        self.keys[-1] = _PossibleKey(self.cursor, number, possible=True, required=required)
        self.levels_by_number[number] = len(self.keys) - 1

    def _forget_key(self) -> None:
        key = self.keys[-1]
        if not key.possible:
            return
        if key.required:
            raise YAMLError("could not find expected ':'", key.line)
        key.possible = False
        self.levels_by_number.pop(key.number, None)

    # Indentation

    def _open_block(self, kind: TokenKind, column: int, line: int, at: int = -1) -> None:
        """Begin a block collection at `column`, if that is deeper than the current one."""
        if self.in_flow or self.indent >= column:
            return
        self.indents.append(self.indent)
        self.indent = column
        self._insert(at, Token(kind, line))

    def _insert(self, at: int, token: Token) -> None:
        """Insert `token` before the queue's token `at`, or at the end if `at` is negative."""
        self.queue.insert(at if at >= 0 else len(self.queue), token)

    def _close_blocks(self, column: int) -> None:
        """End the block collections that are deeper than `column`."""
        if self.in_flow:
            return
        while self.indent > column:
            self._add(TokenKind.BLOCK_END)
            self.indent = self.indents.pop()

    def _leave_content(self) -> None:
        """End all block collections and the possible key before a document separator."""
        self._close_blocks(-1)
        self._forget_key()
        self.key_allowed = False

    # Tokens that change the state

    def _add_indicator(self, kind: TokenKind) -> None:
        self._add(kind)
        self.cursor.position += 1

    def _fetch_stream_end(self) -> None:
        # The end of the text also ends its last line, and with it a possible key.
        self.cursor.end_line()
        self._leave_content()
        self._add(TokenKind.STREAM_END)

    def _fetch_flow_start(self, kind: TokenKind) -> None:
        self._note_possible_key()
        number = self.taken + len(self.queue)
        self.keys.append(_PossibleKey(self.cursor, number, possible=False, required=False))
        self.key_allowed = True
        self._add_indicator(kind)

    def _fetch_flow_end(self, kind: TokenKind) -> None:
        self._forget_key()
        if self.in_flow:
            # If the brackets held no key, the number is that of the opening bracket. So yaml.v2
            # returns an empty collection before it can become a key, and rejects `[]: value`.
            self.levels_by_number.pop(self.keys.pop().number, None)
        self.key_allowed = False
        self._add_indicator(kind)

    def _fetch_block_entry(self) -> None:
        # In a flow collection, the composer rejects the token.
        if not self.in_flow:
            self._check_key_allowed("block sequence entries")
            self._open_block(TokenKind.BLOCK_SEQUENCE_START, self.cursor.column, self.cursor.line)
        self._forget_key()
        self.key_allowed = True
        self._add_indicator(TokenKind.BLOCK_ENTRY)

    def _fetch_key(self) -> None:
        if not self.in_flow:
            self._check_key_allowed("mapping keys")
            self._open_block(TokenKind.BLOCK_MAPPING_START, self.cursor.column, self.cursor.line)
        self._forget_key()
        self.key_allowed = not self.in_flow
        self._add_indicator(TokenKind.KEY)

    def _fetch_value(self) -> None:
        key = self.keys[-1]
        if self._is_possible(key):
            at = key.number - self.taken
            self._insert(at, Token(TokenKind.KEY, key.line))
            self._open_block(TokenKind.BLOCK_MAPPING_START, key.column, key.line, at)
            key.possible = False
            self.levels_by_number.pop(key.number, None)
            self.key_allowed = False
        else:
            # The value of a complex key, or of a missing one.
            if not self.in_flow:
                self._check_key_allowed("mapping values")
                self._open_block(
                    TokenKind.BLOCK_MAPPING_START, self.cursor.column, self.cursor.line
                )
            self.key_allowed = not self.in_flow
        self._add_indicator(TokenKind.VALUE)

    def _check_key_allowed(self, what: str) -> None:
        if not self.key_allowed:
            raise YAMLError(f"{what} are not allowed in this context", self.cursor.line)


NAME: Final = re.compile("[0-9A-Za-z_-]+")
AFTER_ANCHOR: Final = BLANK_OR_END | frozenset("?:,]}%@`")
HANDLE: Final = re.compile("![0-9A-Za-z_-]*!?")
URI: Final = re.compile(r"[0-9A-Za-z_;/?:@&=+$,.!~*'()\[\]%-]*")
OCTETS: Final = re.compile("(?:%[0-9A-Fa-f]{2})+")
VERSION: Final = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}(?![0-9])")


def scan_anchor(cursor: Cursor, kind: TokenKind) -> Token:
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
    return Token(TokenKind.TAG, line, handle, suffix)


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
        token = Token(TokenKind.VERSION_DIRECTIVE, line, version)
    else:
        handle = cursor.take(HANDLE)
        if not handle.endswith("!") or not cursor.take(BLANKS):
            raise YAMLError("did not find expected tag handle", line)
        token = Token(TokenKind.TAG_DIRECTIVE, line, handle, _uri(cursor))
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
