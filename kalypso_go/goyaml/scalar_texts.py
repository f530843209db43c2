"""The text of scalars: plain and quoted ones, literal (`|`) and folded (`>`) ones.

In plain and quoted scalars, line breaks are folded: a single one becomes a space.
"""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.cursor import BLANKS, BREAKS, END, SPACES, TO_LINE_END, Cursor
from kalypso_go.goyaml.errors import YAMLError

DOCUMENT_MARKER: Final = re.compile(rf"(?:---|\.\.\.)[ \t{BREAKS}\0]")


def _plain_line(stops: str) -> re.Pattern[str]:
    """Match words and the blanks between them, up to `: `, ` #` or one of `stops`."""
    other = rf"[^ \t{BREAKS}\0:{stops}]"
    colon = rf":(?![ \t{BREAKS}\0])"
    word = f"(?:{other}|{colon}){other}*(?:{colon}{other}*)*"
    return re.compile(rf"{word}(?:[ \t]+(?!#){word})*")


PLAIN_LINE_IN_BLOCK: Final = _plain_line("")
PLAIN_LINE_IN_FLOW: Final = _plain_line(r",?\[\]{}")
SINGLE_QUOTED_RUN: Final = re.compile(rf"(?:[^' \t{BREAKS}\0]+|'')*")
DOUBLE_QUOTED_RUN: Final = re.compile(rf'[^"\\ \t{BREAKS}\0]*')
HEXADECIMAL: Final = re.compile("[0-9a-fA-F]*")

ESCAPES: Final = dict(
    zip("0abt\tnvfre \"'\\N_LP", "\0\a\b\t\t\n\v\f\r\x1b \"'\\\x85\xa0\u2028\u2029", strict=True)
)
ESCAPE_DIGITS: Final = {"x": 2, "u": 4, "U": 8}


def scan_plain(cursor: Cursor, indent: int, *, in_flow: bool) -> tuple[str, bool]:
    """Read a plain scalar; its further lines are indented by at least `indent`.

    Returns its text, and whether the cursor has moved to a line below the text.
    Raises `YAMLError` for a tab in the indentation.
    """
    line = PLAIN_LINE_IN_FLOW if in_flow else PLAIN_LINE_IN_BLOCK
    parts: list[str] = []
    folded = ""
    while not at_document_marker(cursor) and cursor.peek() != "#":
        words = cursor.take(line)
        if words:
            parts += folded, words
            folded = ""
        cursor.skip(BLANKS)
        if cursor.peek() not in BREAKS:
            break
        folded = _take_breaks(cursor, indent)
        if not in_flow and cursor.column < indent:
            break
    return "".join(parts), bool(folded)


def scan_single_quoted(cursor: Cursor) -> str:
    """Read a scalar from quote to quote; raise `YAMLError` if the closing quote is missing."""
    start = cursor.line
    cursor.position += 1
    parts = []
    while True:
        _check_not_at_end(cursor, start)
        parts.append(cursor.take(SINGLE_QUOTED_RUN).replace("''", "'"))
        if cursor.peek() == "'":
            cursor.position += 1
            return "".join(parts)
        parts.append(_take_blanks(cursor))


def scan_double_quoted(cursor: Cursor) -> str:
    """Read a scalar from quote to quote; raise `YAMLError` for bad escapes or no closing quote."""
    start = cursor.line
    cursor.position += 1
    parts = []
    while True:
        _check_not_at_end(cursor, start)
        parts.append(cursor.take(DOUBLE_QUOTED_RUN))
        while cursor.peek() == "\\" and cursor.peek(1) not in BREAKS:
            parts += _take_escape(cursor), cursor.take(DOUBLE_QUOTED_RUN)
        if cursor.peek() == '"':
            cursor.position += 1
            return "".join(parts)
        if cursor.peek() == "\\":
            cursor.position += 1
            cursor.take_break()
            parts.append(_take_empty_lines(cursor))
        else:
            parts.append(_take_blanks(cursor))


def at_document_marker(cursor: Cursor) -> bool:
    """Return whether a line with `---` or `...` begins at the cursor."""
    at_start = cursor.position == cursor.line_start
    return at_start and DOCUMENT_MARKER.match(cursor.text, cursor.position) is not None


def _check_not_at_end(cursor: Cursor, start: int) -> None:
    if at_document_marker(cursor):
        raise YAMLError("found unexpected document indicator", start)
    if cursor.peek() == END:
        raise YAMLError("found unexpected end of stream", start)


def _take_blanks(cursor: Cursor) -> str:
    """Return the blanks between two words of a quoted scalar, or the folded line breaks."""
    blanks = cursor.take(BLANKS)
    return _take_breaks(cursor, 0) if cursor.peek() in BREAKS else blanks


def _take_breaks(cursor: Cursor, indent: int) -> str:
    """Fold line breaks and the blanks around them."""
    first = cursor.take_break()
    more = _take_empty_lines(cursor, indent)
    return (more or " ") if first == "\n" else first + more


def _take_empty_lines(cursor: Cursor, indent: int = 0) -> str:
    """Return the breaks of empty lines up to the next word."""
    breaks = ""
    while True:
        start = cursor.position
        cursor.skip(BLANKS)
        if "\t" in cursor.text[start : min(cursor.position, cursor.line_start + indent)]:
            raise YAMLError("found a tab character that violates indentation", cursor.line)
        if cursor.peek() not in BREAKS:
            return breaks
        breaks += cursor.take_break()


def _take_escape(cursor: Cursor) -> str:
    letter = cursor.peek(1)
    cursor.position += 2
    if letter in ESCAPES:
        return ESCAPES[letter]
    if letter not in ESCAPE_DIGITS:
        raise YAMLError("found unknown escape character", cursor.line)
    end = cursor.position + ESCAPE_DIGITS[letter]
    match = HEXADECIMAL.match(cursor.text, cursor.position, end)
    if match is None or match.end() != end:
        raise YAMLError("did not find expected hexdecimal number", cursor.line)
    cursor.position = end
    code = int(match[0], 16)
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise YAMLError("found invalid Unicode character escape code", cursor.line)
    return chr(code)


HEADER: Final = re.compile("[|>](?:[-+][0-9]?|[0-9][-+]?)?")


def scan_block_scalar(cursor: Cursor, parent_indent: int) -> str:
    """Read a block scalar in a collection at `parent_indent`; -1 means outside any collection.

    Raises `YAMLError` for a bad header or a tab in the indentation.
    """
    header = cursor.take(HEADER)
    start = cursor.line
    digit = header.strip("|>+-")
    if digit == "0":
        raise YAMLError("found an indentation indicator equal to 0", start)
    if not cursor.rest_of_line_is_comment():
        raise YAMLError("did not find expected comment or line break", start)
    indent = int(digit) + max(parent_indent, 0) if digit else 0
    breaks, column = _take_breaks_between_lines(cursor, indent)
    if not indent:
        indent = max(column, parent_indent + 1, 1)
    literal = header[0] == "|"
    parts = []
    last_break = ""
    after_blank = False
    while cursor.column == indent and cursor.peek() != END:
        before_blank = cursor.peek() in " \t"
        if literal or after_blank or before_blank or last_break != "\n":
            parts.append(last_break)
        elif not breaks:
            parts.append(" ")
        after_blank = before_blank
        parts += breaks, cursor.take(TO_LINE_END)
        last_break = cursor.take_break()
        breaks, _ = _take_breaks_between_lines(cursor, indent)
    if "-" not in header:
        parts.append(last_break)
    if "+" in header:
        parts.append(breaks)
    return "".join(parts)


def _take_breaks_between_lines(cursor: Cursor, indent: int) -> tuple[str, int]:
    """Skip empty lines; return their breaks and the deepest column.

    Spaces up to `indent` are indentation; if `indent` is 0 (not yet known), all spaces are.
    """
    breaks = ""
    deepest = 0
    while True:
        end = cursor.line_start + indent if indent else len(cursor.text)
        match = SPACES.match(cursor.text, cursor.position, max(end, cursor.position))
        cursor.position = match.end() if match else cursor.position
        deepest = max(deepest, cursor.column)
        if cursor.peek() == "\t" and (not indent or cursor.column < indent):
            message = "found a tab character where an indentation space is expected"
            raise YAMLError(message, cursor.line)
        if cursor.peek() not in BREAKS:
            return breaks, deepest
        breaks += cursor.take_break()
