"""Writing values as yaml.v2 2.4.0 and yaml.v3 3.0.1 do with their defaults.

    {"a": [{"b": 1, "c": 2}]}      yaml.v3: a:              yaml.v2: a:
                                                - b: 1               - b: 1
                                                  c: 2                 c: 2

What does not read back as it was is written all the same, byte for byte as by Go: a list element
that is a literal block beginning with a space, texts of line breaks only, the plain `<<`, floats
without a fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.goyaml.bounds import MAX_BYTES, MAX_DEPTH
from kalypso_actions.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_actions.goyaml.keys import ordered
from kalypso_actions.goyaml.layout import FOLD_COLUMN, lay_out
from kalypso_actions.goyaml.numbers import format_float, format_integer
from kalypso_actions.goyaml.quoting import BREAKS, inline, simple_key, text_entry, text_line
from kalypso_actions.goyaml.remembered import Remembered, content_key
from kalypso_actions.goyaml.represented import InOrder, Verbatim

INDENT: Final = {2: 2, 3: 4}
CONSTANTS: Final = {None: "null", True: "true", False: "false"}


Represent = Callable[[object], object]
"""Gives a value that can be written in the place of one of another type."""

REMEMBERED_LENGTH: Final = 4096

_texts: Remembered[str] = Remembered(2048)

PLAIN_TYPES: Final = frozenset({type(None), bool, int, float, str, dict, list, InOrder, Verbatim})


def dump_v3(value: object, limit_bytes: int = MAX_BYTES, represent: Represent | None = None) -> str:
    """`value` as yaml.v3 writes it, with its last line feed.

    Values are None, bool, int (64 bits), float, str, list and dict with scalar keys, and their
    subclasses; surrogate escapes in a string stand for bytes that are not UTF-8. `represent` is
    asked for every value of another type, subclasses included, and may return an `InOrder` or a
    `Verbatim`, too.
    Raises `YAMLError` for anything else, `YAMLBoundError` for what is too deep (cycles too) or
    would take more than `limit_bytes`.
    """
    return _dump(3, value, limit_bytes, represent)


def dump_v2(value: object, limit_bytes: int = MAX_BYTES, represent: Represent | None = None) -> str:
    """`value` as yaml.v2 writes it, with its last line feed; as `dump_v3` otherwise."""
    return _dump(2, value, limit_bytes, represent)


def _dump(version: int, value: object, limit_bytes: int, represent: Represent | None) -> str:
    content = content_key(value)
    key = None if content is None else (version, content)
    text = _texts.get(key)
    if text is None or len(text) * 4 > limit_bytes:
        text = _Writer(version, limit_bytes, represent).document(value)
        if len(text) <= REMEMBERED_LENGTH:
            _texts.put(key, text)
    return text


class _Writer:
    """One document being written, at the end of `parts`."""

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
        # The writer counts characters; bytes may be more.
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
        """Write entries whose keys stand at `indent`, where the cursor is already."""
        pad, below, version = "", self.under(indent), self.version
        for key, value in ordered(mapping, version=version):
            if type(key) is str and type(value) is str:
                entry = text_entry(key, value, version)
                if entry is not None:
                    self.write(pad + entry)
                    pad = " " * indent
                    continue
            head = simple_key(key, version) if isinstance(key, str) else self.number(key)
            if head is None:
                self.write(f"{pad}? {self.line(self.scalar(key, indent + 2, below))}")
                self.write(" " * indent + ":")
                self.behind_indicator(value, indent + 1, below, depth)
            else:
                self.write(f"{pad}{head}:")
                self.behind_key(value, indent, indent + len(head) + 1, depth)
            pad = " " * indent

    def sequence(self, sequence: list[object], indent: int, depth: int) -> None:
        """Write items whose dashes stand at `indent`, where the cursor is already."""
        pad = ""
        for item in sequence:
            line = text_line(item, self.version) if type(item) is str else None
            if line is not None:
                self.write(f"{pad}- {line}")
            else:
                self.write(pad + "-")
                self.behind_indicator(item, indent + 1, indent + 2, depth)
            pad = " " * indent

    def behind_key(self, value: object, indent: int, column: int, depth: int) -> None:
        """Write the value of a key at `indent`; a list or mapping begins on a line of its own."""
        value = self.represented(value)
        below = self.under(indent)
        if isinstance(value, dict) and value:
            self.deeper(depth)
            self.write("\n" + " " * below)
            self.mapping(value, below, depth + 1)
        elif isinstance(value, list) and value:
            self.deeper(depth)
            below = indent if self.version == 2 else below
            self.write("\n" + " " * below)
            self.sequence(value, below, depth + 1)
        else:
            self.write(" " + self.line(self.scalar(value, column + 1, below)))

    def behind_indicator(self, value: object, column: int, indent: int, depth: int) -> None:
        """Write what a dash, or the colon of a complex key, stands before, on the same line."""
        value = self.represented(value)
        if isinstance(value, dict) and value:
            self.deeper(depth)
            self.write(" " * (indent - column))
            self.mapping(value, indent, depth + 1)
        elif isinstance(value, list) and value:
            self.deeper(depth)
            self.write(" " * (indent - column))
            self.sequence(value, indent, depth + 1)
        else:
            self.write(" " + self.line(self.scalar(value, column + 1, indent)))

    def represented(self, value: object) -> object:
        """`value`, or what stands for it."""
        if self.represent is None or type(value) in PLAIN_TYPES:
            return value
        return self.represent(value)

    def under(self, indent: int) -> int:
        """Where that begins which belongs to a key at `indent`."""
        return indent + 2 if self.version == 2 else (indent + 4) // 4 * 4

    def deeper(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise YAMLBoundError(f"the value is nested more than {MAX_DEPTH} levels deep")

    def line(self, scalar: str) -> str:
        return scalar if scalar[-1] in BREAKS else scalar + "\n"

    def scalar(self, value: object, column: int, indent: int) -> str:
        """`value`, which may be an empty list or mapping, as it is written at `column`."""
        if not isinstance(value, str) or isinstance(value, Verbatim):
            return self.number(value)
        text = inline(value, self.version)
        if text is None or (column + len(text) > FOLD_COLUMN[self.version] and " " in text):
            return lay_out(value, column, indent, self.version)
        return text

    def number(self, value: object) -> str:
        """What is written the same way wherever it stands."""
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
