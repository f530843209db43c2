"""Limits: no template may hang the run or exhaust its memory.

A `Budget` counts what the executions of one assignment use of its `Limits`. The engine counts each
call before it runs, and functions ask the budget before they build a large value, so an execution
beyond its limits takes neither the time nor the memory. A budget never counts seconds, so every
machine accepts the same templates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kalypso_go.gotemplate.values import FunctionError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one template.

    - `template_bytes`, `parse_depth`: the text, and the nesting of expressions and controls;
    - `output_bytes`: the rendered text, and each value that a function builds;
    - `iterations`: the iterations of all loops plus the calls of all templates;
    - `recursion`: the depth of calls between templates, including the controls around each call;
    - `work`: the characters that functions read and write (an element of a list counts as
      `ELEMENT`, and slow functions count each character several times); the characters of a loop's
      body, once for each iteration; and the texts parsed while rendering.
    """

    template_bytes: int = 256 << 10
    parse_depth: int = 60
    output_bytes: int = 2 << 20
    iterations: int = 1_000_000
    recursion: int = 300
    work: int = 16 << 20


DEFAULT_LIMITS = Limits()


class LimitError(FunctionError):
    """The execution would exceed a limit, which the message names."""


class Decisions:
    """The conditions of executions, recorded; with those of others, the executions follow them.

    So a template can be rendered with other texts, but print the same parts.
    """

    __slots__ = ("_followed", "made")

    def __init__(self, followed: Iterable[bool] | None = None) -> None:
        self.made: list[bool] = []
        self._followed = None if followed is None else iter(followed)

    def decide(self, is_true: bool) -> bool:
        """Record the outcome of a condition, or return that of the other executions."""
        if self._followed is not None:
            is_true = next(self._followed, is_true)
        self.made.append(is_true)
        return is_true


class Budget:
    """Counts what the executions of one assignment have used of its limits.

    While `counts_calls` is false, calls of functions on small values do not count; it becomes true
    after some other work. `decisions` records or decides the conditions, if it is not None.
    """

    __slots__ = (
        *("counts_calls", "iterations", "limits", "output", "output_limit", "work"),
        "decisions",
    )

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.output_limit = limits.output_bytes
        self.output = 0
        self.iterations = 0
        self.work = 0
        self.counts_calls = False
        self.decisions: Decisions | None = None

    def reserve(self, size: int, what: str) -> None:
        """Reserve `size` bytes (or elements) before building `what`.

        Raises `LimitError` if they exceed the limit of one value or of the execution's work.
        """
        if size > self.output_limit:
            self.fit(size, what)
        self.spend(size, what)

    def fit(self, size: int, what: str) -> None:
        """Raise `LimitError` if a value of `size` bytes exceeds the limit."""
        if size > self.limits.output_bytes:
            raise LimitError(
                f"{what} would have {size} bytes; the limit for one value is "
                f"{self.limits.output_bytes}"
            )

    def spend(self, size: int, what: str) -> None:
        """Count `size` characters of work before `what` does it.

        Raises `LimitError` if the execution's work exceeds its limit.
        """
        self.work += size
        if self.work > _FREE_WORK:
            self.counts_calls = True
            if self.work > self.limits.work:
                raise LimitError(
                    f"{what} goes beyond the limit of {self.limits.work} characters that loops and "
                    "functions may process for one assignment"
                )

    def count_iteration(self, size: int, what: str) -> None:
        """Count an iteration of a loop or a call of a template; its body has `size` characters."""
        self.iterations += 1
        self.work += size
        if self.work > _FREE_WORK:
            self.spend(0, what)
        if self.iterations > self.limits.iterations:
            raise LimitError(
                f"{what} goes beyond the limit of {self.limits.iterations} iterations of loops and "
                "calls of templates for one assignment"
            )

    def reserve_elements(self, count: int, what: str) -> None:
        """Reserve `count` elements of a list or map before building it."""
        most = self.limits.output_bytes // ELEMENT
        if count > most:
            raise LimitError(
                f"{what} would have {count} elements; the limit for one value is {most}"
            )
        self.spend(count * ELEMENT, what)

    def count_call(self, function: str, cost: int, arguments: Iterable[object]) -> None:
        """Count a call before it runs; `cost` is the work for each character of its arguments."""
        left = self.limits.work - self.work
        size = 0
        for argument in arguments:
            size += work_of(argument, left)
        self.spend(_CALL + cost * size, function)

    def count_result(self, function: str, result: object) -> None:
        """Count the result of a call: a text's characters, or a container's direct elements."""
        if isinstance(result, str):
            self.spend(len(result), function)
        elif isinstance(result, list | dict):
            self.spend(len(result) * ELEMENT, function)


_FREE_WORK = 1 << 16
"""Up to this amount of work, calls on small values do not count."""

_CALL = 128
"""The work of a call, in characters."""

ELEMENT = 32
"""The work of an element of a list or map, in characters."""


def work_of(value: object, limit: int) -> int:
    """Estimate the work of processing a value: its characters, and more for each element.

    Measuring stops beyond `limit`, because a value that contains itself has no end.
    """
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, list | dict):
        return 1
    size, rest = 0, [value]
    while rest and size <= limit:
        container = rest.pop()
        size += ELEMENT * len(container)
        for element in container.values() if isinstance(container, dict) else container:
            if isinstance(element, str):  # most elements
                size += len(element)
            elif isinstance(element, list | dict):
                rest.append(element)
    return size
