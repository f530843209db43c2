"""Write values as yaml.v2 2.4.0 and yaml.v3 3.0.1 do by default.

    {"a": [{"b": 1, "c": 2}]}      yaml.v3: a:              yaml.v2: a:
                                                - b: 1               - b: 1
                                                  c: 2                 c: 2

The output equals Go's byte for byte even where it does not read back as the same value: a list
element that is a literal block beginning with a space, strings of line breaks only, the plain `<<`,
floats without a fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_go.goyaml.bounds import MAX_BYTES, MAX_DEPTH
from kalypso_go.goyaml.content_cache import ContentCache, content_key
from kalypso_go.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_go.goyaml.keys import ordered
from kalypso_go.goyaml.layout import FOLD_COLUMN, lay_out
from kalypso_go.goyaml.numbers import format_float, format_integer
from kalypso_go.goyaml.quoting import (
    BREAKS,
    CACHED_ENTRY,
    inline,
    simple_key,
    text_entry,
    text_line,
)
from kalypso_go.goyaml.representations import InOrder, Verbatim

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
