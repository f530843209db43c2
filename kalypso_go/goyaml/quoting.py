"""The styles in which yaml.v2 2.4.0 and yaml.v3 3.0.1 write strings.

A string is plain unless it would read as another type (then `"…"`) or its characters forbid that
(then `'…'`, or `"…"` if single quotes cannot hold it). With a line feed, it is a literal block,
unless spaces at line ends or unprintable characters forbid that (then `"…"`). Go strings are bytes;
bytes that are not UTF-8 are surrogate escapes, as in os.fsdecode.
"""

from __future__ import annotations

import base64
import re
from enum import Enum
from functools import lru_cache
from typing import Final

from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.scalars import MAX_INT64, NUMBER_STARTS, WORDS, is_timestamp, resolve

BREAKS: Final = "\n\r\x85\u2028\u2029"
BREAK: Final = re.compile(f"[{BREAKS}]")

BASE_60_FLOAT: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
OCTAL_WITH_SIGN: Final = re.compile(r"0o([-+][0-7]+)")

# The class lists unprintable ranges: to compile a class, `re` visits each of its BMP characters.
UNPRINTABLE_BUT_TAB: Final = (
    "[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\U00010000-\U0010ffff]"
)
UNPRINTABLE: Final = UNPRINTABLE_BUT_TAB.replace("\x08", "\t")
INDICATOR: Final = (
    r"""\A(?:---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?-](?:[ \t]|\Z))"""
    rf"""|:(?:[ \t]|\Z)|[ \t\0{BREAKS}]#"""
)
NEVER_PLAIN: Final = re.compile(rf"{INDICATOR}|{UNPRINTABLE}|[{BREAKS}]|\A[ ]|[ ]\Z")
PLAINLY_PLAIN: Final = re.compile(r"[A-Za-z_/](?:[!\"$-9;-~]++|[ ][!\"$-9;-~]|:(?=[!-~]))*+")
"""Matches most strings in practice; they are plain unless they are in `WORDS`. The quantifiers are
possessive, because backtracking would take a hundred bytes for each character."""
NEVER_SINGLE: Final = re.compile(rf"{UNPRINTABLE}|[ ][{BREAKS}]|[{BREAKS}][ ]")
NEVER_LITERAL: Final = {
    2: re.compile(rf"{UNPRINTABLE}|[ ](?:[{BREAKS}]|\Z)"),
    3: re.compile(rf"{UNPRINTABLE_BUT_TAB}|[ ](?:[{BREAKS}]|\Z)"),
}

ESCAPED: Final = re.compile(rf'{UNPRINTABLE}|[{BREAKS}"\\]')
ESCAPES: Final = dict(
    zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True)
)
BYTE_ORDER_MARK: Final = "\ufeff"

LONGEST_SIMPLE_KEY: Final = 128
BINARY_TAG: Final = "!!binary"
BINARY_LINE: Final = 70
CACHED_LENGTH: Final = 256
CACHED_ENTRY: Final = 256


class Verbatim(str):
    """A scalar without quotes, such as a time; as a string, the same text would have quotes."""

    __slots__ = ()


class Style(Enum):
    """The styles that Go's libraries choose from."""

    PLAIN = "plain"
    SINGLE = "single-quoted"
    DOUBLE = "double-quoted"
    LITERAL = "literal"


def style_of(text: str, version: int) -> Style:
    """Return the style in which yaml.v2 or yaml.v3 (`version`) writes `text` (valid UTF-8)."""
    if "\n" in text:
        return Style.DOUBLE if NEVER_LITERAL[version].search(text) else Style.LITERAL
    if _is_ambiguous(text, version):
        return Style.DOUBLE
    if not NEVER_PLAIN.search(text):
        return Style.PLAIN
    return Style.DOUBLE if NEVER_SINGLE.search(text) else Style.SINGLE


def _is_ambiguous(text: str, version: int) -> bool:
    """Return whether `text` without quotes would not read as a string."""
    if text in WORDS:
        return True
    if text[0] not in NUMBER_STARTS:
        return False
    if not isinstance(resolve(text), str) or is_timestamp(text) or BASE_60_FLOAT.fullmatch(text):
        return True
    # yaml.v3 reads octal numbers with a prefix, and Go accepts a sign after it.
    octal = OCTAL_WITH_SIGN.fullmatch(text.replace("_", "")) if version == 3 else None
    return octal is not None and -MAX_INT64 - 1 <= int(octal[1], 8) <= MAX_INT64


def inline(text: str, version: int) -> str | None:
    """Return `text` as a scalar of one line; None if it needs several lines.

    Raises `YAMLError` for surrogates that stand for no byte.
    """
    return _inline(text, version) if len(text) > CACHED_LENGTH else _cached_inline(text, version)


def _inline(text: str, version: int) -> str | None:
    if PLAINLY_PLAIN.fullmatch(text) and text not in WORDS:
        return text
    if SURROGATE.search(text):
        text, tag = valid_or_binary(text)
        if tag:
            return None if "\n" in text else f"{tag} {text}"
    style = style_of(text, version)
    if style is Style.PLAIN:
        return text
    if style is Style.DOUBLE:
        return f'"{escape(text)}"'
    if style is Style.LITERAL or BREAK.search(text):
        return None
    return "'" + text.replace("'", "''") + "'"


_cached_inline = lru_cache(maxsize=1 << 14)(_inline)


def simple_key(text: str, version: int) -> str | None:
    """Return `text` as a simple key; None if it is too long or has line breaks (`? key`)."""
    if len(text) <= LONGEST_SIMPLE_KEY // 4:
        return _cached_simple_key(text, version)
    return _simple_key(text, version)


def _simple_key(text: str, version: int) -> str | None:
    if len(text) <= LONGEST_SIMPLE_KEY and PLAINLY_PLAIN.fullmatch(text) and text not in WORDS:
        return text
    content, tag = valid_or_binary(text) if SURROGATE.search(text) else (text, "")
    if BREAK.search(content) or len(tag) + len(content.encode()) > LONGEST_SIMPLE_KEY:
        return None
    return inline(text, version)


_cached_simple_key = lru_cache(maxsize=1 << 14)(_simple_key)


def text_line(text: str, version: int) -> str | None:
    """Return `text` as one line with its line feed; None if its layout depends on the column."""
    scalar = inline(text, version)
    if scalar is None or (version == 2 and " " in scalar):  # yaml.v2 may fold it
        return None
    return scalar + "\n"


@lru_cache(maxsize=1 << 14)
def text_entry(key: str, text: str, version: int) -> str | None:
    """Return a mapping's entry as one line; None if its layout depends on the column.

    The key and the text must have at most `CACHED_ENTRY` characters, because they are cached.
    """
    head, line = simple_key(key, version), text_line(text, version)
    return None if head is None or line is None else f"{head}: {line}"


def escape(text: str) -> str:
    """Return `text` escaped for a double-quoted scalar."""
    if text.startswith(BYTE_ORDER_MARK):
        # Go's libraries look for the mark at the start of the text, not at each character, and so
        # escape every character.
        return "".join(map(_escaped, text))
    return ESCAPED.sub(lambda match: _escaped(match[0]), text)


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return "\\" + ESCAPES[character]
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def valid_or_binary(text: str) -> tuple[str, str]:
    """Return a string with surrogate escapes as Go's libraries write it, and its tag.

    Bytes that form UTF-8 become text; others become lines of base64, tagged `!!binary`.
    Raises `YAMLError` for surrogates that stand for no byte.
    """
    data = to_bytes(text)
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        encoded = base64.b64encode(data).decode("ascii")
    if len(encoded) < BINARY_LINE:
        return encoded, BINARY_TAG
    lines = (encoded[at : at + BINARY_LINE] for at in range(0, len(encoded), BINARY_LINE))
    return "".join(f"{line}\n" for line in lines), BINARY_TAG


SURROGATE: Final = re.compile("[\ud800-\udfff]")


def to_bytes(text: str) -> bytes:
    """Return the bytes of the Go string that `text` stands for.

    Raises `YAMLError` for surrogates that stand for no byte.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise YAMLError(f"a string holds {text[error.start]!a}, which is no character") from error


def to_runes(text: str) -> str:
    """Return the runes of the Go string, with U+FFFD for each byte that is not UTF-8."""
    if not SURROGATE.search(text):
        return text
    return SURROGATE.sub("\ufffd", to_bytes(text).decode("utf-8", "surrogateescape"))
