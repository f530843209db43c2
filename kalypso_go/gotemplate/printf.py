"""`printf`, `print` and `println` like Go's fmt, which reports errors of a format in the output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.formatting import PLAIN, Flags
from kalypso_go.gotemplate.printer import Printer
from kalypso_go.gotemplate.values import type_of

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
