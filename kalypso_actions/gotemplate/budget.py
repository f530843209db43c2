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

    `template_bytes` and `parse_depth` bound the text and the nesting of what is parsed;
    `output_bytes` bounds the rendered text and every single value that a function builds;
    `iterations` bounds the turns of all loops and the calls of all templates together;
    `recursion` how deep executing actions may stand in one another, called templates included;
    `work` the characters that functions read and write, all together.
    """

    template_bytes: int = 1 << 20
    parse_depth: int = 60
    output_bytes: int = 16 << 20
    iterations: int = 1_000_000
    recursion: int = 500
    work: int = 512 << 20


DEFAULT_LIMITS = Limits()


class LimitError(FunctionError):
    """An execution would go beyond one of its limits; the text names it."""


class Budget:
    """What one execution has used of its limits."""

    __slots__ = ("iterations", "limits", "output", "work")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.output = 0
        self.iterations = 0
        self.work = 0

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
        if self.work > self.limits.work:
            raise LimitError(
                f"{what} goes beyond the limit of {self.limits.work} bytes that functions may "
                "read and write in one execution"
            )
