"""Format single values like Go's fmt, by a verb, flags, width and precision.

Each function returns the padded text; the caller selects the function by verb and kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from kalypso_go.gotemplate.characters import is_print
from kalypso_go.gotemplate.numerals import MAX_UINT64, format_float
from kalypso_go.gotemplate.quoting import can_backquote, is_rune, quote, quote_rune
from kalypso_go.gotemplate.text import normal, to_bytes


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

    def room(self) -> int:
        """Return how many characters width and precision may add."""
        return (self.width or 0) + (self.precision or 0)


PLAIN = Flags()
"""The flags of a plain `%v`; never modified."""

_BASES = {"b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_SHARP = {"b": "0b", "x": "0x", "X": "0X"}


def pad(text: str, flags: Flags, *, zeros: bool = True) -> str:
    """Pad to the width, with zeros if both the flags and the caller allow."""
    if not flags.width:
        return text
    if flags.minus:
        return text.ljust(flags.width)
    return text.rjust(flags.width, "0" if flags.zero and zeros else " ")


def boolean(value: bool, flags: Flags) -> str:
    """Format `true` or `false`."""
    return pad("true" if value else "false", flags)


def integer(value: int, verb: str, flags: Flags) -> str:
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
    return pad(sign + prefix + digits, flags, zeros=False)


def go_unsigned(value: int, flags: Flags) -> str:
    """Format an unsigned integer in Go's syntax, `%#v`: hexadecimal."""
    return integer(value, "x", replace(flags, sharp=True))


def character(value: int, flags: Flags) -> str:
    """Format by the verb `c`."""
    return pad(chr(value) if is_rune(value) else "\ufffd", flags)


def quoted_character(value: int, flags: Flags) -> str:
    """Format an integer by the verb `q`."""
    return pad(quote_rune(value, ascii_only=flags.plus), flags)


def unicode(value: int, flags: Flags) -> str:
    """Format by the verb `U`: `U+0041`, with `#` also the character."""
    code = value & MAX_UINT64
    text = f"U+{code:0{max(4, flags.precision or 0)}X}"
    if flags.sharp and code <= 0x10FFFF and is_print(chr(code)):
        text += f" '{chr(code)}'"
    return pad(text, flags, zeros=False)


def floating(value: float, verb: str, flags: Flags) -> str:
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
        return pad(sign + number, flags, zeros=False)
    if flags.sharp and verb != "b":
        number = _with_point(number, verb, precision)
    if not flags.plus and sign == "+":
        return pad(number, flags)
    if flags.zero and not flags.minus and flags.width:
        return sign + number.rjust(flags.width - 1, "0")
    return pad(sign + number, flags)


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


def complex_number(value: complex, verb: str, flags: Flags) -> str:
    """Format `(real+imaginaryi)`, padding each part separately."""
    signed = replace(flags, plus=True)
    return f"({floating(value.real, verb, flags)}{floating(value.imag, verb, signed)}i)"


def string(text: str, flags: Flags) -> str:
    """Format by the verb `s`; the precision limits the characters."""
    return pad(_truncated(text, flags), flags)


def quoted_string(text: str, flags: Flags) -> str:
    """Format by the verb `q`: quoted as in Go; with `#` in backquotes if possible."""
    text = _truncated(text, flags)
    if flags.sharp and can_backquote(text):
        return pad(f"`{text}`", flags)
    return pad(quote(text, ascii_only=flags.plus), flags)


def _truncated(text: str, flags: Flags) -> str:
    text = normal(text)
    return text if flags.precision is None else text[: flags.precision]


def hexadecimal(text: str, verb: str, flags: Flags) -> str:
    """Format the bytes of a text by the verbs `x X`, separated by spaces if the flag is set."""
    data = to_bytes(text)
    if flags.precision is not None:
        data = data[: flags.precision]
    if not data:
        return pad("", flags)
    digits = data.hex(" ") if flags.space else data.hex()
    if flags.sharp:
        digits = "0x" + digits.replace(" ", " 0x")
    return pad(digits.upper() if verb == "X" else digits, flags)
