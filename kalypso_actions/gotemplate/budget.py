"""Bounds: no template may hang the run or exhaust its memory.

`Limits` says how far an execution may go, a `Budget` counts one execution. Whoever is about to
build something large asks the budget first, so that the memory is never used.
"""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.gotemplate.values import FunctionError


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one template may go.

    - `template_bytes`, `parse_depth`: the text, and how deep expressions and controls may nest;
    - `output_bytes`: the rendered text, and any one value that a function builds;
    - `iterations`: the turns of all loops and the calls of all templates together;
    - `recursion`: how deep templates may call one another, counting the controls that a call
      stands in;
    - `work`: the characters that functions read and write, and those of the loops' bodies for
      each turn.
    """

    template_bytes: int = 1 << 20
    parse_depth: int = 60
    output_bytes: int = 16 << 20
    iterations: int = 1_000_000
    recursion: int = 300
    work: int = 64 << 20


DEFAULT_LIMITS = Limits()


class LimitError(FunctionError):
    """An execution would go beyond one of its limits; the text names it."""


class Budget:
    """What one execution has used of its limits.

    While little has been done, the small work of functions is not counted; `is_spent` tells that
    from here on it is.
    """

    __slots__ = ("is_spent", "iterations", "limits", "output", "output_limit", "work")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.output_limit = limits.output_bytes
        self.output = 0
        self.iterations = 0
        self.work = 0
        self.is_spent = False

    def reserve(self, size: int, what: str) -> None:
        """Ask for `size` bytes (or elements) to build `what`, before they are built.

        Raises `LimitError` where they do not fit one value, or all work of this execution.
        """
        self.fit(size, what)
        self.spend(size, what)

    def fit(self, size: int, what: str) -> None:
        """Raise `LimitError` where one value of `size` bytes is beyond the limit."""
        if size > self.limits.output_bytes:
            raise LimitError(
                f"{what} would have {size} bytes; the limit for one value is "
                f"{self.limits.output_bytes}"
            )

    def spend(self, size: int, what: str) -> None:
        """Count `size` characters of work that `what` is about to do.

        Raises `LimitError` where all work of this execution goes beyond its limit.
        """
        self.work += size
        if self.work > _FREE_WORK:
            self.is_spent = True
            if self.work > self.limits.work:
                raise LimitError(
                    f"{what} goes beyond the limit of {self.limits.work} characters that loops "
                    "and functions may go through in one execution"
                )

    def turn(self, size: int, what: str) -> None:
        """Count a turn of a loop, or a call of a template, whose body has `size` characters."""
        self.iterations += 1
        self.work += size
        if self.work > _FREE_WORK:
            self.spend(0, what)
        if self.iterations > self.limits.iterations:
            raise LimitError(
                f"{what} goes beyond the limit of {self.limits.iterations} turns of loops and "
                "calls of templates in one execution"
            )

    def charge(self, what: str, *values: object) -> None:
        """Count what a function was given and what it has made."""
        self.spend(_CALL + sum(map(_size, values)), what)


_FREE_WORK = 1 << 16
"""Below it, what functions are given is not measured."""

_CALL = 128
_ELEMENT = 16
"""How many characters' work a call is, and an element of a list or map."""


def _size(value: object) -> int:
    """About how much work a value is: its characters, and more for each element inside of it."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, list | dict):
        return 1
    size, rest = 0, [value]
    while rest and size < _LARGE:
        container = rest.pop()
        size += _ELEMENT * len(container)
        for element in container.values() if isinstance(container, dict) else container:
            if isinstance(element, list | dict):
                rest.append(element)
            elif isinstance(element, str):
                size += len(element)
    return size


_LARGE = 1 << 24
"""Where measuring a value ends; one that contains itself has no end."""
