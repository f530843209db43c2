"""Print values like Go's fmt, which reports errors of a format in the output."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.characters import is_print
from kalypso_go.gotemplate.numerals import MAX_UINT64, format_float
from kalypso_go.gotemplate.text import (
    can_backquote,
    from_bytes,
    is_rune,
    normal,
    quote,
    quote_rune,
    to_bytes,
)
from kalypso_go.gotemplate.values import (
    UINT8,
    Function,
    FunctionError,
    GoInt,
    GoStruct,
    Type,
    plain_key,
    slice_of,
    sorted_keys,
    type_of,
)


@dataclass(slots=True)
class Flags:
    """The flags between `%` and the verb.

    `go_syntax` is the `#` of `%#v` and `field_names` the `+` of `%+v`; their meaning differs from
    `sharp` and `plus`.
    """

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    field_names: bool = False
    go_syntax: bool = False
    width: int | None = None
    precision: int | None = None


PLAIN = Flags()
"""The flags of a plain `%v`; never modified."""


_MAX_NUMBER = 1_000_000
"""Go ignores a width, precision or index above this."""

_CACHED_LENGTH = 256
"""Longer formats are not cached, because the cache limits only the number of its entries."""

_FLAGS = {"-": "minus", "+": "plus", "#": "sharp", " ": "space", "0": "zero"}
_DIGITS = frozenset("0123456789")
_DIRECTIVE = re.compile("%(.?)", re.DOTALL)


def sprint(values: Sequence[object], budget: Budget) -> str:
    """Go's `fmt.Sprint`: a space between operands if neither is a string."""
    printer = Printer(budget)
    after_text = True
    for value in values:
        is_text = isinstance(value, str)
        if not after_text and not is_text:
            printer.write(" ")
        printer.argument(value, "v", PLAIN)
        after_text = is_text
    return printer.text()


def sprintln(values: Sequence[object], budget: Budget) -> str:
    """Go's `fmt.Sprintln`: a space between all operands, a newline after them."""
    printer = Printer(budget)
    for index, value in enumerate(values):
        if index:
            printer.write(" ")
        printer.argument(value, "v", PLAIN)
    printer.write("\n")
    return printer.text()


def sprintf(format_: str, values: Sequence[object], budget: Budget) -> str:
    """Go's `fmt.Sprintf`."""
    simple = _simple(format_) if len(format_) <= _CACHED_LENGTH else None
    if simple is not None and len(simple[1]) == len(values):
        texts, verbs = simple
        for verb, value in zip(verbs, values):  # noqa: B905  # the keyword takes a tenth of the time
            kind = type(value)
            if not ((kind is str and verb != "d") or (kind is int and verb != "s")):
                break
        else:
            return texts % tuple(values)
    return _Format(format_, values, budget).text()


@lru_cache(maxsize=4096)
def _simple(format_: str) -> tuple[str, list[str]] | None:
    """Translate a format with only plain `%s`, `%d`, `%v` to Python's; also return its verbs."""
    pieces = _DIRECTIVE.split(format_)
    texts, verbs = pieces[::2], pieces[1::2]
    return ("%s".join(texts), verbs) if all(verb in {"s", "d", "v"} for verb in verbs) else None


class _Format:
    """Processes one format; the next verb takes the argument at `index`."""

    def __init__(self, format_: str, values: Sequence[object], budget: Budget) -> None:
        self.format = format_
        self.values = values
        self.printer = Printer(budget)
        self.position = 0
        self.index = 0
        self.reordered = False
        self.good_index = True
        self.after_index = False

    def text(self) -> str:
        """Return the formatted text."""
        while self.position < len(self.format):
            percent = self.format.find("%", self.position)
            end = len(self.format) if percent < 0 else percent
            self.printer.write(self.format[self.position : end])
            self.position = end + 1
            if percent >= 0:
                self.directive()
        if not self.reordered and self.index < len(self.values):
            self.extra()
        return self.printer.text()

    def directive(self) -> None:
        """Process a directive after its `%`, up to and including the verb."""
        self.good_index = True
        self.after_index = False
        flags = Flags()
        while (name := _FLAGS.get(self.character())) is not None:
            setattr(flags, name, True)
            self.position += 1
        self.explicit_index()
        self.width(flags)
        if self.character() == "." and self.position + 1 < len(self.format):
            self.precision(flags)
        if not self.after_index:
            self.explicit_index()
        verb = self.character()
        if not verb:
            self.printer.write("%!(NOVERB)")
            return
        self.position += 1
        self.print("\ufffd" if "\udc80" <= verb <= "\udcff" else verb, flags)

    def print(self, verb: str, flags: Flags) -> None:
        """Apply a verb to the next argument."""
        if verb == "%":
            self.printer.write("%")
        elif not self.good_index:
            self.printer.write(f"%!{verb}(BADINDEX)")
        elif self.index >= len(self.values):
            self.printer.write(f"%!{verb}(MISSING)")
        else:
            if verb in "vw":
                flags.go_syntax, flags.sharp = flags.sharp, False
                flags.field_names, flags.plus = flags.plus, False
            self.printer.argument(self.values[self.index], verb, flags)
            self.index += 1

    def character(self) -> str:
        return self.format[self.position : self.position + 1]

    def width(self, flags: Flags) -> None:
        if self.character() != "*":
            flags.width = self.number()
            if self.after_index and flags.width is not None:
                self.good_index = False
            return
        self.position += 1
        flags.width = self.integer_argument()
        if flags.width is None:
            self.printer.write("%!(BADWIDTH)")
        elif flags.width < 0:
            flags.width = -flags.width
            flags.minus = True
            flags.zero = False
        self.after_index = False

    def precision(self, flags: Flags) -> None:
        self.position += 1
        if self.after_index:
            self.good_index = False
        self.explicit_index()
        if self.character() != "*":
            flags.precision = self.number() or 0
            return
        self.position += 1
        precision = self.integer_argument()
        if precision is None or precision < 0:
            self.printer.write("%!(BADPREC)")
        else:
            flags.precision = precision
        self.after_index = False

    def number(self) -> int | None:
        """Read digits; a number that is too large consumes the rest of the format."""
        start = self.position
        while self.character() in _DIGITS:
            self.position += 1
        number, fits = _number(self.format[start : self.position])
        if not fits:
            self.position = len(self.format)
        return number

    def integer_argument(self) -> int | None:
        """Return the argument for a `*`; None if it is not an integer, or too large."""
        if self.index >= len(self.values):
            return None
        value = self.values[self.index]
        self.index += 1
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_NUMBER:
            return None
        return int(value)

    def explicit_index(self) -> None:
        """Read `[n]`, the number of the next argument."""
        self.after_index = False
        if self.character() != "[":
            return
        self.reordered = True
        closing = self.format.find("]", self.position)
        if closing < 0 or len(self.format) - self.position < 3:
            self.position += 1
            self.good_index = False
            return
        digits = self.format[self.position + 1 : closing]
        number, _ = _number(digits) if _DIGITS.issuperset(digits) else (None, False)
        self.position = closing + 1
        self.after_index = number is not None
        if number is not None and 0 < number <= len(self.values):
            self.index = number - 1
        else:
            self.good_index = False

    def extra(self) -> None:
        """Print the arguments that no verb used."""
        self.printer.write("%!(EXTRA ")
        for position, value in enumerate(self.values[self.index :]):
            if position:
                self.printer.write(", ")
            go_type = type_of(value)
            if go_type is not None:
                self.printer.write(f"{go_type.name}=")
            self.printer.argument(value, "v", PLAIN)
        self.printer.write(")")


def _number(digits: str) -> tuple[int | None, bool]:
    """Return the number, if there is one, and whether Go accepts its size.

    Before it adds each digit, Go compares the number read so far with the limit.
    """
    significant = digits.lstrip("0")
    if len(significant) > 8 or int(significant[:-1] or 0) > _MAX_NUMBER:
        return None, False
    return (int(digits) if digits else None), True


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
            self.write(_pad("<nil>", flags) if verb in "Tv" else f"%!{verb}(<nil>)")
        elif verb == "T":
            self.write(_format_string(_type(value).name, flags))
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
            self.budget.fit(
                self.length + (flags.width or 0) + (flags.precision or 0), "the printed text"
            )
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
                self.write(_format_string(str(method.call()), flags))
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
            self.write(_pad("true" if value else "false", flags))
        else:
            self._bad_verb(value, verb, flags)

    def _integer(self, value: int, verb: str, flags: Flags, _: int) -> None:
        number = int(value)
        if verb == "v":
            if flags.go_syntax and _type(value).kind.startswith("uint"):
                self.write(_format_integer(number, "x", replace(flags, sharp=True)))
            else:
                self.write(_format_integer(number, "d", flags))
        elif verb in _INTEGER_VERBS:
            self.write(_format_integer(number, verb, flags))
        elif verb == "c":
            self.write(_pad(chr(number) if is_rune(number) else "\ufffd", flags))
        elif verb == "q":
            self.write(_pad(quote_rune(number, ascii_only=flags.plus), flags))
        elif verb == "U":
            self.write(_format_unicode(number, flags))
        else:
            self._bad_verb(value, verb, flags)

    def _floating(self, value: float | complex, verb: str, flags: Flags, _: int) -> None:
        if verb not in _FLOAT_VERBS:
            self._bad_verb(value, verb, flags)
        elif isinstance(value, complex):  # pads each part separately
            imaginary = _format_floating(value.imag, verb, replace(flags, plus=True))
            self.write(f"({_format_floating(value.real, verb, flags)}{imaginary}i)")
        else:
            self.write(_format_floating(value, verb, flags))

    def _string(self, value: str, verb: str, flags: Flags, _: int) -> None:
        if verb == "s" or (verb == "v" and not flags.go_syntax):
            self.write(_format_string(value, flags))
        elif verb in "vq":
            self.write(_format_quoted_string(value, flags))
        elif verb in "xX":
            self.write(_format_hexadecimal(value, verb, flags))
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
            self._string(from_bytes(bytes(cast("list[int]", value))), verb, flags, depth)
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
    complex: Printer._floating,
    dict: Printer._mapping,
    list: Printer._sequence,
}


def _printer(value: object) -> _Print:
    """Return the method that prints a value of an uncommon class."""
    for base in (int, dict, list):
        if isinstance(value, base):
            return _PRINTERS[base]
    return Printer._struct if isinstance(value, GoStruct) else Printer._function


def _type(value: object) -> Type:
    go_type = type_of(value)
    if go_type is None:
        raise TypeError(f"not a Go value: {value!r}")
    return go_type


_BASES = {"b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_SHARP = {"b": "0b", "x": "0x", "X": "0X"}


def _pad(text: str, flags: Flags, *, zeros: bool = True) -> str:
    """Pad to the width, with zeros if both the flags and the caller allow."""
    if not flags.width:
        return text
    if flags.minus:
        return text.ljust(flags.width)
    return text.rjust(flags.width, "0" if flags.zero and zeros else " ")


def _format_integer(value: int, verb: str, flags: Flags) -> str:
    """Format by the verbs `b d o O x X`."""
    digits = format(abs(value), _BASES.get(verb, "d"))
    sign = "-" if value < 0 else "+" if flags.plus else " " if flags.space else ""
    if flags.precision is not None:
        if not flags.precision and not value:
            return " " * (flags.width or 0)
        digits = digits.rjust(flags.precision, "0")
    elif flags.zero and not flags.minus and flags.width:
        digits = digits.rjust(flags.width - len(sign), "0")
    prefix = ""
    if flags.sharp:
        prefix = _SHARP.get(verb, "")
        if verb in {"o", "O"} and digits[0] != "0":
            prefix = "0"
    if verb == "O":
        prefix = "0o" + prefix
    return _pad(sign + prefix + digits, flags, zeros=False)


def _format_unicode(value: int, flags: Flags) -> str:
    """Format by the verb `U`: `U+0041`, with `#` also the character."""
    code = value & MAX_UINT64
    text = f"U+{code:0{max(4, flags.precision or 0)}X}"
    if flags.sharp and code <= 0x10FFFF and is_print(chr(code)):
        text += f" '{chr(code)}'"
    return _pad(text, flags, zeros=False)


def _format_floating(value: float, verb: str, flags: Flags) -> str:
    """Format by the verbs `b e E f F g G x X`, and `v` as `g`."""
    verb = {"v": "g", "F": "f"}.get(verb, verb)
    precision = 6 if verb in {"e", "E", "f"} else -1
    if flags.precision is not None:
        precision = flags.precision
    number = format_float(value, verb, precision)
    sign = "-" if number[0] == "-" else "+"
    number = number.lstrip("+-")
    if flags.space and sign == "+" and not flags.plus:
        sign = " "
    if not math.isfinite(value):
        if number == "NaN" and not flags.space and not flags.plus:
            sign = ""
        return _pad(sign + number, flags, zeros=False)
    if flags.sharp and verb != "b":
        number = _with_point(number, verb, precision)
    if not flags.plus and sign == "+":
        return _pad(number, flags)
    if flags.zero and not flags.minus and flags.width:
        return sign + number.rjust(flags.width - 1, "0")
    return _pad(sign + number, flags)


def _with_point(number: str, verb: str, precision: int) -> str:
    """Apply `#`: always a decimal point, and the zeros that `g` omits."""
    mark = {"x": "p", "X": "P", "E": "E", "G": "E"}.get(verb, "e")
    digits, mark, power = number.partition(mark)
    missing = 0
    if verb in {"g", "G", "x"}:
        # Go counts from the first character other than zero; in `0x1.8` that is the `x`.
        missing = 6 if precision == -1 else precision
        missing -= len(digits.replace(".", "").lstrip("0"))
    if "." not in digits:
        missing -= digits == "0"
        digits += "."
    return digits + "0" * missing + mark + power


def _format_string(text: str, flags: Flags) -> str:
    """Format by the verb `s`; the precision limits the characters."""
    return _pad(_truncated(text, flags), flags)


def _format_quoted_string(text: str, flags: Flags) -> str:
    """Format by the verb `q`: quoted as in Go; with `#` in backquotes if possible."""
    text = _truncated(text, flags)
    if flags.sharp and can_backquote(text):
        return _pad(f"`{text}`", flags)
    return _pad(quote(text, ascii_only=flags.plus), flags)


def _truncated(text: str, flags: Flags) -> str:
    text = normal(text)
    return text if flags.precision is None else text[: flags.precision]


def _format_hexadecimal(text: str, verb: str, flags: Flags) -> str:
    """Format the bytes of a text by the verbs `x X`, separated by spaces if the flag is set."""
    data = to_bytes(text)
    if flags.precision is not None:
        data = data[: flags.precision]
    if not data:
        return _pad("", flags)
    digits = data.hex(" ") if flags.space else data.hex()
    if flags.sharp:
        digits = "0x" + digits.replace(" ", " 0x")
    return _pad(digits.upper() if verb == "X" else digits, flags)
