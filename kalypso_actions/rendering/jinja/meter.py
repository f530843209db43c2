"""The limits of one rendering by Jinja2.

Jinja2's sandbox protects the machine's files and secrets from a template, but not its memory and
time. So everything that can be large or slow asks the meter of the current rendering first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Final

from jinja2 import StrictUndefined, TemplateRuntimeError, Undefined

from kalypso_go.gotemplate import Budget, LimitError

MAX_DEPTH: Final = 100
"""Levels of lists and mappings in one value."""

MAX_CALLS: Final = 100
"""Depth of nested calls of macros and recursive loops; Python's stack allows only a few more."""

MAX_INTEGER_BITS: Final = 4096
"""Python's integers are unbounded, and its arithmetic on long ones is slow."""

ELEMENT_COST: Final = 32
"""The cost of each element of a list or mapping, in addition to the characters of texts."""

_NODE_COST: Final = 8
"""The cost of each node of the syntax tree in each iteration of a loop."""

_CALL_ITERATIONS: Final = 10
"""Calling a macro takes as long as this many iterations of a loop."""

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
    """Counts the work of one rendering against its assignment's budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.limits = budget.limits
        self.spend, self.reserve, self.fit = budget.spend, budget.reserve, budget.fit
        self._calls = 0

    def write(self, text: str) -> None:
        """Count a piece of the output. Raises LimitError, and UnicodeEncodeError."""
        budget = self.budget
        budget.output += len(text.encode("utf-8", "surrogateescape"))
        if budget.output > budget.output_limit:
            raise LimitError(f"the output goes beyond the limit of {budget.output_limit} bytes")

    def iterate(self, count: int = 1) -> None:
        """Count iterations of loops, including those inside filters. Raises LimitError."""
        self.budget.iterations += max(0, count)
        self.fit_iterations(0)

    def fit_iterations(self, count: int) -> None:
        """Raise LimitError if `count` more iterations would exceed the limit."""
        if self.budget.iterations + count > self.limits.iterations:
            raise LimitError(
                f"loops and macros go beyond the limit of {self.limits.iterations} iterations"
            )

    def enter_loop(self, nodes: int) -> bool:
        """Count one iteration over a body of `nodes`; return True, for use in a condition."""
        self.iterate()
        self.spend(nodes * _NODE_COST, "a loop")
        return True

    def enter_macro(self, nodes: int) -> None:
        """Count one call of a macro of `nodes`."""
        self.iterate(_CALL_ITERATIONS)
        self.spend(nodes * _NODE_COST, "a macro")

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run one macro or recursive loop inside another. Raises LimitError."""
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
        """Return the elements of any iterable, each counted as an iteration.

        Raises TypeError, and LimitError.
        """
        if isinstance(value, Undefined):
            return list(value)
        if not isinstance(value, Iterable):
            raise TypeError(f"{describe(value)} cannot be iterated")
        if isinstance(value, Sized):
            self.iterate(len(value))
            return list(value)
        items = []
        for item in value:
            self.iterate()
            items.append(item)
        return items

    def measure(self, value: object) -> int:
        """Count and return the size of a value, including everything in it.

        An element that occurs several times counts each time, because printing or comparing the
        value visits it each time. Raises TemplateRuntimeError for a value that is not data,
        LimitError for one that is too large or too deep.
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
                if size > self.limits.output_bytes:
                    raise LimitError(
                        "a list or mapping with everything in it goes beyond the limit of "
                        f"{self.limits.output_bytes} bytes for one value"
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
        """Return a value as Jinja2 prints it, which is `str(value)`.

        Raises TemplateRuntimeError for a value that is not data: Python would print its address,
        which differs from run to run.
        """
        if type(value) is str:
            return value
        if isinstance(value, Undefined):
            return str(value)
        self.measure(value)
        text = str(value)
        self.reserve(len(text), "a value as text")
        return text


def _own_size(item: object) -> int:
    """Return the size of a value without its elements."""
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
            raise TemplateRuntimeError(f"{describe(item)} is not data: it has no text")


def refuse_undefined(value: object) -> None:
    """Raise UndefinedError if `value` is an undefined name."""
    if isinstance(value, StrictUndefined):
        str(value)


def bounded_integer(value: object) -> object:
    """Return `value`; raise LimitError for a very long integer, TypeError for a complex number."""
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise LimitError(f"an integer goes beyond the limit of {MAX_INTEGER_BITS} bits")
    if isinstance(value, complex):
        raise TypeError("the result is a complex number")
    return value


def describe(value: object) -> str:
    """Name the kind of a value for an error, never its address."""
    kind = next((name for name, types in _KINDS.items() if isinstance(value, types)), None)
    return kind or f"a {type(value).__name__.lower()}"


_running: ContextVar[Meter] = ContextVar("meter")


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Use `meter` for the rendering inside the block."""
    token = _running.set(meter)
    try:
        yield
    finally:
        _running.reset(token)


def current_meter() -> Meter:
    """Return the meter of the current rendering."""
    return _running.get()
