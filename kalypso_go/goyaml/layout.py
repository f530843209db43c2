"""Scalars of several lines: literal blocks, line separators in quotes, folded lines.

Only yaml.v2 folds: at a space after column 80. Continuation lines have the scalar's indentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import Final

from kalypso_go.goyaml.quoting import (
    BREAKS,
    Style,
    escape,
    style_of,
    valid_or_binary,
)
from kalypso_go.goyaml.surrogates import SURROGATE

FOLD_COLUMN: Final = {2: 80, 3: inf}
INDENT_HINT: Final = {2: "2", 3: "4"}
LINE_START: Final = re.compile(rf"(?<![^{BREAKS}])(?=[^{BREAKS}])")
ESCAPED_CHARACTER: Final = re.compile(r"\\(?:x..|u....|U.{8}|.)|[^\\]")


def lay_out(text: str, column: int, indent: int, version: int) -> str:
    """Return `text` as a scalar that begins at `column`, with the necessary line breaks.

    Only a literal block ends with a line break, and only if `text` does.
    """
    if SURROGATE.search(text):
        text, tag = valid_or_binary(text)
        if tag:
            block = "\n" in text
            return f"{tag} {_literal(text, indent, version)}" if block else f"{tag} {text}"
    style = style_of(text, version)
    if style is Style.LITERAL:
        return _literal(text, indent, version)
    fold_column = FOLD_COLUMN[version]
    if style is Style.PLAIN:
        return _fold(text, column, indent, fold_column, "")
    if style is Style.DOUBLE:
        return _fold(ESCAPED_CHARACTER.findall(escape(text)), column, indent, fold_column, '"')
    pieces = ["''" if character == "'" else character for character in text]
    return _fold(pieces, column, indent, fold_column, "'")


def _literal(text: str, indent: int, version: int) -> str:
    hint = INDENT_HINT[version] if text[0] == " " or text[0] in BREAKS else ""
    if text[-1] not in BREAKS:
        chomping = "-"
    else:
        chomping = "+" if len(text) == 1 or text[-2] in BREAKS else ""
    # yaml.v3 ends the header's line only before content, so it loses a leading line break.
    header_end = "" if version == 3 and text[0] in BREAKS else "\n"
    return f"|{hint}{chomping}{header_end}{LINE_START.sub(' ' * indent, text)}"


def _fold(pieces: Sequence[str], column: int, indent: int, fold_column: float, quote: str) -> str:
    """Join `pieces`, one for each character of a scalar, breaking lines after `fold_column`.

    A line may break at a space, but not at the first or last character inside quotes, and at two
    consecutive spaces only in double quotes, which can escape the second. In single quotes, a line
    separator of the text always begins a new line.
    """
    pad = " " * indent
    last = len(pieces) - 1
    written = [quote]
    column += len(quote)
    after_space = after_break = False
    for at, piece in enumerate(pieces):
        if piece == " ":
            space_follows = at < last and pieces[at + 1] == " "
            foldable = column > fold_column and not after_space and (not quote or 0 < at < last)
            if foldable and (quote == '"' or not space_follows):
                piece = f"\n{pad}\\" if space_follows else f"\n{pad}"  # noqa: PLW2901
                column = len(piece) - 2
            written.append(piece)
            column += 1
            after_space = True
        elif piece in BREAKS:
            written.append(piece)
            column = 0
            after_break = True
        else:
            if after_break:
                written.append(pad)
                column = indent
            written.append(piece)
            column += len(piece)
            after_space = after_break = False
    return "".join(written) + quote
