"""What one rendering by Jinja2 may use, and how its values are measured before they are used.

Jinja2's sandbox keeps a template from the machine, not from its memory and time. So everything
that can be large or slow asks the meter of the running rendering first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Final

from jinja2 import StrictUndefined, TemplateRuntimeError, Undefined

from kalypso_actions.gotemplate import Budget, LimitError, Limits

MAX_DEPTH: Final = 100
"""Levels of lists and mappings in one value."""

MAX_CALLS: Final = 100
"""Macros and recursive loops within one another: Python's own stack has room for no more."""

MAX_INTEGER_BITS: Final = 4096
"""Python's integers have no end of their own, and its arithmetic on long ones none in time."""

ELEMENT_COST: Final = 32
"""What is counted for each element of a list or mapping, beside the characters of a text."""

_NODE_COST: Final = 8
"""What is counted for each node of the syntax in each turn of a loop."""

_CALL_TURNS: Final = 10
"""Calling a macro takes Python as long as so many turns of a loop."""

_SMALL: Final = frozenset({bool, float, type(None)})

_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "none": type(None),
    "a boolean": bool,
    "a number": (int, float),
    "a text": str,
    "a list": (list, tuple),
    "a mapping": dict,
}


class Meter:
    """What one rendering has used of its limits; `budget` is for the functions of Go templates."""

    def __init__(self, limits: Limits) -> None:
        self.budget = Budget(limits)
        self._limits = limits
        self._calls = 0

    def reserve(self, size: int, what: str) -> None:
        """Ask for one value of `size` bytes before it is built. Raises LimitError."""
        self.budget.reserve(size, what)

    def check(self, size: int, what: str) -> None:
        """Refuse one value of more than the limit, without counting it. Raises LimitError."""
        if size > self._limits.output_bytes:
            raise LimitError(
                f"{what} would have {size} bytes; the limit for one value is "
                f"{self._limits.output_bytes}"
            )

    def spend(self, size: int, what: str) -> None:
        """Count `size` bytes that `what` reads or writes. Raises LimitError."""
        self.budget.spend(size, what)

    def write(self, text: str) -> None:
        """Count a piece of the output. Raises LimitError, and UnicodeEncodeError."""
        self.budget.output += len(text.encode("utf-8", "surrogateescape"))
        if self.budget.output > self._limits.output_bytes:
            raise LimitError(
                f"the output goes beyond the limit of {self._limits.output_bytes} bytes"
            )

    def turn(self, count: int = 1) -> None:
        """Count turns of loops, the hidden ones of filters included. Raises LimitError."""
        self.budget.iterations += max(0, count)
        self.check_turns(0)

    def check_turns(self, count: int) -> None:
        """Refuse a loop of `count` turns that could not end. Raises LimitError."""
        if self.budget.iterations + count > self._limits.iterations:
            raise LimitError(
                f"loops and macros go beyond the limit of {self._limits.iterations} turns"
            )

    def enter_turn(self, weight: int) -> bool:
        """Count one turn of a loop of `weight` nodes; True, so that it may stand in a test."""
        self.turn()
        self.spend(weight * _NODE_COST, "a loop")
        return True

    def enter_macro(self, weight: int) -> None:
        """Count one call of a macro of `weight` nodes."""
        self.turn(_CALL_TURNS)
        self.spend(weight * _NODE_COST, "a macro")

    @contextmanager
    def call(self) -> Iterator[None]:
        """One macro or recursive loop inside another. Raises LimitError."""
        self._calls += 1
        try:
            if self._calls > MAX_CALLS:
                raise LimitError(
                    f"macros or recursive loops call one another more than {MAX_CALLS} deep"
                )
            yield
        finally:
            self._calls -= 1

    def items(self, value: object) -> list[object]:
        """The elements of anything that can be iterated, each counted as a turn.

        Raises TypeError, and LimitError.
        """
        if isinstance(value, Undefined):
            return list(value)
        if not isinstance(value, Iterable):
            raise TypeError(f"{describe(value)} cannot be iterated")
        if isinstance(value, Sized):
            self.turn(len(value))
            return list(value)
        items = []
        for item in value:
            self.turn()
            items.append(item)
        return items

    def weigh(self, value: object) -> int:
        """Count the size of a value with everything in it, and return it.

        What occurs several times counts as often, because whoever prints or compares it meets it
        as often. Raises TemplateRuntimeError for what is no data, LimitError for what is too large
        or too deep.
        """
        if type(value) is str:
            size = len(value)
        elif type(value) in _SMALL:
            return ELEMENT_COST
        else:
            size = self._size(value)
        self.spend(size, "the template")
        return size

    def _size(self, value: object) -> int:
        size = 0
        levels: list[Iterator[object]] = [iter((value,))]
        while levels:
            for item in levels[-1]:
                size += _own_size(item)
                if size > self._limits.output_bytes:
                    raise LimitError(
                        "a list or mapping with everything in it goes beyond the limit of "
                        f"{self._limits.output_bytes} bytes for one value"
                    )
                if isinstance(item, list | tuple):
                    levels.append(iter(item))
                    break
                if isinstance(item, dict):
                    levels.append(chain.from_iterable(item.items()))
                    break
            else:
                levels.pop()
            if len(levels) > MAX_DEPTH:
                raise LimitError(f"a value is nested more than {MAX_DEPTH} levels deep")
        return size

    def text(self, value: object) -> str:
        """A value as Jinja2 prints it: as Python writes it.

        Raises TemplateRuntimeError for what is no data: Python would print where in its memory it
        lies, which differs from run to run.
        """
        if type(value) is str:
            return value
        if isinstance(value, Undefined):
            return str(value)
        self.weigh(value)
        text = str(value)
        self.reserve(len(text), "a value as text")
        return text


def _own_size(item: object) -> int:
    """The size of a value without what it contains."""
    match item:
        case str():
            return len(item) + ELEMENT_COST
        case range():
            return ELEMENT_COST * (1 + len(item))
        case bool() | float() | None | list() | tuple() | dict():
            return ELEMENT_COST
        case int():
            return ELEMENT_COST + item.bit_length() // 8
        case Undefined():
            refuse_undefined(item)
            return ELEMENT_COST
        case _:
            raise TemplateRuntimeError(f"{describe(item)} is no data: it has no text")


def refuse_undefined(value: object) -> None:
    """Raise UndefinedError where `value` is an undefined name."""
    if isinstance(value, StrictUndefined):
        str(value)


def bounded_integer(value: object) -> object:
    """`value`, unless it is an integer of absurd length (LimitError) or a complex number."""
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise LimitError(f"an integer goes beyond the limit of {MAX_INTEGER_BITS} bits")
    if isinstance(value, complex):
        raise TypeError("the result is no real number")
    return value


def describe(value: object) -> str:
    """What a value is, for an error: never its address."""
    kind = next((name for name, types in _KINDS.items() if isinstance(value, types)), None)
    return kind or f"a {type(value).__name__.lower()}"


_running: ContextVar[Meter] = ContextVar("meter")


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Make `meter` that of the rendering inside."""
    token = _running.set(meter)
    try:
        yield
    finally:
        _running.reset(token)


def current_meter() -> Meter:
    """The meter of the running rendering."""
    return _running.get()
