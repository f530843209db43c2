"""Print values of any type like Go's fmt, including values that a verb cannot print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from kalypso_go.gotemplate import formatting
from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.formatting import Flags
from kalypso_go.gotemplate.ordering import sorted_keys
from kalypso_go.gotemplate.text import from_bytes
from kalypso_go.gotemplate.values import (
    UINT8,
    Function,
    FunctionError,
    GoInt,
    GoStruct,
    Type,
    plain_key,
    slice_of,
    type_of,
)

_MAX_DEPTH = 100
"""The limit on the nesting of printed values; a map that contains itself has no end."""

_BYTES = slice_of(UINT8)

_INTEGER_VERBS = frozenset("bdoOxX")
_FLOAT_VERBS = frozenset("veEfFgGbxX")
_TEXT_VERBS = frozenset("vsxXq")


class Printer:
    """Collects the text of one call; the budget bounds its length."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.parts: list[str] = []
        self.length = 0
        self.erroring = False

    def text(self) -> str:
        """Return the printed text."""
        return "".join(self.parts)

    def write(self, text: str) -> None:
        """Append a text."""
        self.parts.append(text)
        self.length += len(text)
        if self.length > self.budget.limits.output_bytes:
            self.budget.fit(self.length, "the printed text")

    def argument(self, value: object, verb: str, flags: Flags) -> None:
        """Print one argument of `print` or `printf`."""
        if value is None:
            self.write(formatting.pad("<nil>", flags) if verb in "Tv" else f"%!{verb}(<nil>)")
        elif verb == "T":
            self.write(formatting.string(_type(value).name, flags))
        elif verb == "p":
            self._pointer(value, verb, flags)
        elif verb == "w" and type_of(value) != _BYTES:
            self._bad_verb(value, verb, flags)
        else:
            self.value(value, verb, flags, 0)

    def value(self, value: object, verb: str, flags: Flags, depth: int) -> None:
        """Print a value that is nested `depth` levels deep."""
        if depth > _MAX_DEPTH:
            raise LimitError(f"printed values may nest {_MAX_DEPTH} levels")
        if flags.width or flags.precision:
            self.budget.fit(self.length + flags.room(), "the printed text")
        if self._methods(value, verb, flags):
            return
        printer = _PRINTERS.get(type(value)) or _printer(value)
        printer(self, value, verb, flags, depth)

    def _bad_verb(self, value: object, verb: str, flags: Flags) -> None:
        """Print the value, marked as one that the verb cannot print."""
        self.write(f"%!{verb}({_type(value).name}=")
        self.erroring = True
        self.value(value, "v", flags, 0)
        self.erroring = False
        self.write(")")

    def _methods(self, value: object, verb: str, flags: Flags) -> bool:
        """Print a value with its own method; return False if none applies to the verb."""
        if self.erroring or not isinstance(value, GoStruct | GoInt):
            return False
        if flags.go_syntax:
            method = value.methods.get("GoString")
            if method is not None:
                self.write(formatting.string(str(method.call()), flags))
            return method is not None
        method = value.methods.get("Error") or value.methods.get("String")
        if method is None or verb not in _TEXT_VERBS:
            return False
        self._string(str(method.call()), verb, flags, 0)
        return True

    def _pointer(self, value: object, verb: str, flags: Flags) -> None:
        """Refuse verb `p` for addresses, which differ in every run; print only nil."""
        if _type(value).kind in {"map", "slice", "ptr", "func"}:
            if getattr(value, "nil", False):
                self.write("0x0")
                return
            raise FunctionError("the address of a value differs in every run: %p is not supported")
        self._bad_verb(value, verb, flags)

    # One method for each kind of value

    def _boolean(self, value: bool, verb: str, flags: Flags, _: int) -> None:
        if verb in "tv":
            self.write(formatting.boolean(value, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _integer(self, value: int, verb: str, flags: Flags, _: int) -> None:
        number = int(value)
        if verb == "v":
            unsigned = flags.go_syntax and _type(value).kind.startswith("uint")
            write = formatting.go_unsigned if unsigned else _decimal
            self.write(write(number, flags))
        elif verb in _INTEGER_VERBS:
            self.write(formatting.integer(number, verb, flags))
        elif verb == "c":
            self.write(formatting.character(number, flags))
        elif verb == "q":
            self.write(formatting.quoted_character(number, flags))
        elif verb == "U":
            self.write(formatting.unicode(number, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _floating(self, value: float, verb: str, flags: Flags, _: int) -> None:
        if verb in _FLOAT_VERBS:
            self.write(formatting.floating(value, verb, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _complex_number(self, value: complex, verb: str, flags: Flags, _: int) -> None:
        if verb in _FLOAT_VERBS:
            self.write(formatting.complex_number(value, verb, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _string(self, value: str, verb: str, flags: Flags, _: int) -> None:
        if verb == "s" or (verb == "v" and not flags.go_syntax):
            self.write(formatting.string(value, flags))
        elif verb in "vq":
            self.write(formatting.quoted_string(value, flags))
        elif verb in "xX":
            self.write(formatting.hexadecimal(value, verb, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _mapping(self, value: dict[object, object], verb: str, flags: Flags, depth: int) -> None:
        opening, between, closing = "map[", " ", "]"
        if flags.go_syntax:
            opening, between, closing = f"{_type(value).name}{{", ", ", "}"
            if getattr(value, "nil", False):
                self.write(f"{_type(value).name}(nil)")
                return
        self.write(opening)
        for index, key in enumerate(sorted_keys(value)):
            self.write(between if index else "")
            self._element(plain_key(key), verb, flags, depth)
            self.write(":")
            self._element(value[key], verb, flags, depth)
        self.write(closing)

    def _sequence(self, value: list[object], verb: str, flags: Flags, depth: int) -> None:
        go_type = _type(value)
        of_bytes = go_type.elem is not None and go_type.elem.kind == "uint8"
        if of_bytes and verb in "sqxX":
            self._string(from_bytes(bytes(cast(list[int], value))), verb, flags, depth)
            return
        name = "[]byte" if of_bytes and not depth and verb in "vd" else go_type.name
        opening, between, closing = "[", " ", "]"
        if flags.go_syntax:
            opening, between, closing = f"{name}{{", ", ", "}"
            if getattr(value, "nil", False):
                self.write(f"{name}(nil)")
                return
        self.write(opening)
        for index, element in enumerate(value):
            self.write(between if index else "")
            self._element(element, verb, flags, depth)
        self.write(closing)

    def _struct(self, value: GoStruct, verb: str, flags: Flags, depth: int) -> None:
        if value.pointer:
            if depth:
                self._pointer(value, verb, flags)
            self.write("&")
        if flags.go_syntax:
            self.write(value.type.name)
        between = ", " if flags.go_syntax else " "
        self.write("{")
        for index, (name, content) in enumerate((value.fields | value.hidden).items()):
            self.write(between if index else "")
            if flags.go_syntax or flags.field_names:
                self.write(f"{name}:")
            self._element(content, verb, flags, depth + value.pointer)
        self.write("}")

    def _element(self, value: object, verb: str, flags: Flags, depth: int) -> None:
        """Print an element of a container."""
        if value is None:
            self.write("interface {}(nil)" if flags.go_syntax else "<nil>")
        else:
            self.value(value, verb, flags, depth + 1)

    def _function(self, value: Function, verb: str, flags: Flags, _: int) -> None:
        self._pointer(value, verb, flags)


_Print = Callable[[Printer, Any, str, Flags, int], None]
_PRINTERS: dict[type, _Print] = {
    str: Printer._string,
    bool: Printer._boolean,
    int: Printer._integer,
    float: Printer._floating,
    complex: Printer._complex_number,
    dict: Printer._mapping,
    list: Printer._sequence,
}


def _printer(value: object) -> _Print:
    """Return the method that prints a value of an uncommon class."""
    for base in (int, dict, list):
        if isinstance(value, base):
            return _PRINTERS[base]
    return Printer._struct if isinstance(value, GoStruct) else Printer._function


def _decimal(value: int, flags: Flags) -> str:
    return formatting.integer(value, "d", flags)


def _type(value: object) -> Type:
    go_type = type_of(value)
    if go_type is None:
        raise TypeError(f"not a Go value: {value!r}")
    return go_type
