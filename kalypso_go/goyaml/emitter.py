"""Write values as yaml.v2 2.4.0 and yaml.v3 3.0.1 do by default.

    {"a": [{"b": 1, "c": 2}]}      yaml.v3: a:              yaml.v2: a:
                                                - b: 1               - b: 1
                                                  c: 2                 c: 2

The output equals Go's byte for byte even where it does not read back as the same value: a list
element that is a literal block beginning with a space, strings of line breaks only, the plain `<<`,
floats without a fraction. Only yaml.v2 folds long lines: at a space after column 80.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from kalypso_go.goyaml.content_cache import ContentCache, content_key
from kalypso_go.goyaml.errors import MAX_BYTES, MAX_DEPTH, YAMLBoundError, YAMLError
from kalypso_go.goyaml.keys import InOrder, ordered
from kalypso_go.goyaml.quoting import (
    BREAKS,
    CACHED_ENTRY,
    SURROGATE,
    Style,
    Verbatim,
    escape,
    inline,
    simple_key,
    style_of,
    text_entry,
    text_line,
    valid_or_binary,
)
from kalypso_go.goyaml.scalars import MAX_UINT64, MIN_INT64

INDENT: Final = {2: 2, 3: 4}
CONSTANTS: Final = {None: "null", True: "true", False: "false"}


Represent = Callable[[object], object]
"""Converts a value of another type to one that can be written."""

CACHED_LENGTH: Final = 4096

_cache: ContentCache[str] = ContentCache(2048)

PLAIN_TYPES: Final = frozenset({type(None), bool, int, float, str, dict, list, InOrder, Verbatim})


def dump_v3(value: object, limit_bytes: int = MAX_BYTES, represent: Represent | None = None) -> str:
    """Return `value` as yaml.v3 writes it, with the final line feed.

    Values are None, bool, int (64 bits), float, str, list and dict with scalar keys, and their
    subclasses; surrogate escapes in a string stand for bytes that are not UTF-8. `represent`
    converts values of all other types, subclasses included; it may also return an `InOrder` or a
    `Verbatim`.
    Raises `YAMLError` for anything else, `YAMLBoundError` if the value is too deep (cycles
    included) or its text exceeds `limit_bytes`.
    """
    return _dump(3, value, limit_bytes, represent)


def dump_v2(value: object, limit_bytes: int = MAX_BYTES, represent: Represent | None = None) -> str:
    """Return `value` as yaml.v2 writes it; see `dump_v3`."""
    return _dump(2, value, limit_bytes, represent)


def _dump(version: int, value: object, limit_bytes: int, represent: Represent | None) -> str:
    content = content_key(value)
    key = None if content is None else (version, content)
    text = _cache.get(key)
    if text is None or len(text) * 4 > limit_bytes:
        text = _Writer(version, limit_bytes, represent).document(value)
        if len(text) <= CACHED_LENGTH:
            _cache.put(key, text, len(text))
    return text


class _Writer:
    """Writes one document, appending to `parts`."""

    def __init__(self, version: int, limit: int, represent: Represent | None) -> None:
        self.represent = represent
        self.version = version
        self.step = INDENT[version]
        self.limit = limit
        self.size = 0
        self.parts: list[str] = []

    def document(self, value: object) -> str:
        value = self.represented(value)
        if isinstance(value, dict) and value:
            self.mapping(value, 0, 1)
        elif isinstance(value, list) and value:
            self.sequence(value, 0, 1)
        else:
            self.write(self.line(self.scalar(value, 0, self.step)))
        text = "".join(self.parts)
        # `write` counts characters; the limit is in bytes.
        if len(text) * 4 > self.limit and len(text.encode()) > self.limit:
            raise self.too_large()
        return text

    def write(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)
        if self.size > self.limit:
            raise self.too_large()

    def too_large(self) -> YAMLBoundError:
        return YAMLBoundError(f"the YAML would have more than {self.limit} bytes")

    def mapping(self, mapping: dict[object, object], indent: int, depth: int) -> None:
        """Write entries with their keys at `indent`; the line is already indented."""
        pad, below, version = "", self.child_indent(indent), self.version
        lines: list[str] = []  # most entries are texts, and need one line each
        for key, value in ordered(mapping, version=version):
            if type(key) is type(value) is str and len(key) + len(value) <= CACHED_ENTRY:
                entry = text_entry(key, value, version)
                if entry is not None:
                    lines.append(entry)
                    continue
            pad = self.lines(lines, pad, indent)
            head = simple_key(key, version) if isinstance(key, str) else self.non_string(key)
            if head is None:
                self.write(f"{pad}? {self.line(self.scalar(key, indent + 2, below))}")
                self.write(" " * indent + ":")
                self.value_after_indicator(value, indent + 1, below, depth)
            else:
                self.write(f"{pad}{head}:")
                self.value_after_key(value, indent, indent + len(head) + 1, depth)
            pad = " " * indent
        self.lines(lines, pad, indent)

    def lines(self, lines: list[str], pad: str, indent: int) -> str:
        """Write and forget lines, the first after `pad`; return the padding of the next line."""
        if not lines:
            return pad
        margin = " " * indent
        self.write(pad + margin.join(lines))
        lines.clear()
        return margin

    def sequence(self, sequence: list[object], indent: int, depth: int) -> None:
        """Write items with their dashes at `indent`; the line is already indented."""
        pad = ""
        for item in sequence:
            line = text_line(item, self.version) if type(item) is str else None
            if line is not None:
                self.write(f"{pad}- {line}")
            else:
                self.write(pad + "-")
                self.value_after_indicator(item, indent + 1, indent + 2, depth)
            pad = " " * indent

    def value_after_key(self, value: object, indent: int, column: int, depth: int) -> None:
        """Write the value of a key at `indent`; lists and mappings begin on a new line."""
        value = self.represented(value)
        below = self.child_indent(indent)
        if isinstance(value, dict) and value:
            self.check_depth(depth)
            self.write("\n" + " " * below)
            self.mapping(value, below, depth + 1)
        elif isinstance(value, list) and value:
            self.check_depth(depth)
            below = indent if self.version == 2 else below
            self.write("\n" + " " * below)
            self.sequence(value, below, depth + 1)
        else:
            self.write(" " + self.line(self.scalar(value, column + 1, below)))

    def value_after_indicator(self, value: object, column: int, indent: int, depth: int) -> None:
        """Write the value after a dash or after the colon of a complex key, on the same line."""
        value = self.represented(value)
        if isinstance(value, dict) and value:
            self.check_depth(depth)
            self.write(" " * (indent - column))
            self.mapping(value, indent, depth + 1)
        elif isinstance(value, list) and value:
            self.check_depth(depth)
            self.write(" " * (indent - column))
            self.sequence(value, indent, depth + 1)
        else:
            self.write(" " + self.line(self.scalar(value, column + 1, indent)))

    def represented(self, value: object) -> object:
        """Return `value`, or its representation if the writer does not know its type."""
        if self.represent is None or type(value) in PLAIN_TYPES:
            return value
        return self.represent(value)

    def child_indent(self, indent: int) -> int:
        """Return the indentation of a value below a key at `indent`."""
        return indent + 2 if self.version == 2 else (indent + 4) // 4 * 4

    def check_depth(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise YAMLBoundError(f"the value is nested more than {MAX_DEPTH} levels deep")

    def line(self, scalar: str) -> str:
        return scalar if scalar[-1] in BREAKS else scalar + "\n"

    def scalar(self, value: object, column: int, indent: int) -> str:
        """Return a scalar, or an empty list or mapping, as written at `column`."""
        if not isinstance(value, str) or isinstance(value, Verbatim):
            return self.non_string(value)
        text = inline(value, self.version)
        if text is None or (column + len(text) > FOLD_COLUMN[self.version] and " " in text):
            return lay_out(value, column, indent, self.version)
        return text

    def non_string(self, value: object) -> str:
        """Return the text of any scalar but a string; it does not depend on the position."""
        if value is None or isinstance(value, bool):
            return CONSTANTS[value]
        if isinstance(value, int):
            return format_integer(value)
        if isinstance(value, float):
            return format_float(value)
        if isinstance(value, dict | list):
            return "{}" if isinstance(value, dict) else "[]"
        if isinstance(value, Verbatim):
            return str(value)
        raise YAMLError(f"cannot marshal type: {type(value).__name__}")


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


def format_integer(value: int) -> str:
    """Return the decimal digits; raise `YAMLError` if no Go integer type holds the value."""
    if not MIN_INT64 <= value <= MAX_UINT64:
        raise YAMLError(f"an integer of {value.bit_length()} bits has no type in Go")
    return int.__repr__(value)


def format_float(value: float) -> str:
    """Return the fewest digits that read back as `value` (strconv's `g`), or `.inf`, `.nan` etc.

    Values below 1e-4 and from 1e6 on have an exponent of at least two digits.
    """
    text = float.__repr__(value)
    if text in {"inf", "-inf", "nan"}:
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction.rstrip("0")
    if not exponent and len(whole) <= 6:
        return f"{sign}{whole}.{fraction}" if fraction else sign + whole
    digits = (whole + fraction).strip("0")
    power = int(exponent or 0) + len(whole) - 1
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e{power:+03d}"
