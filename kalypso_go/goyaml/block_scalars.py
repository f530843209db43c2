"""The text of literal (`|`) and folded (`>`) scalars."""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.cursor import BREAKS, END, SPACES, TO_LINE_END, Cursor
from kalypso_go.goyaml.errors import YAMLError

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
    breaks, column = _take_empty_lines(cursor, indent)
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
        breaks, _ = _take_empty_lines(cursor, indent)
    if "-" not in header:
        parts.append(last_break)
    if "+" in header:
        parts.append(breaks)
    return "".join(parts)


def _take_empty_lines(cursor: Cursor, indent: int) -> tuple[str, int]:
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
