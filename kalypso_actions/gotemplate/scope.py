"""Variables: names at compile time, places in the state's list at run time.

Each declaration has a place of its own. A name means the last declaration before it in the
text, of those whose block has not ended. Only behind `and` and `or` does it take the execution to
know: `{{or .A ($x := 1)}}` declares nothing where `.A` is true, and `$x` is then what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final


class _Unset:
    """Stands at the place of a variable that was not declared in this execution."""


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration; `certain` where every execution that comes by has declared it.

    `outer` is the one of the same name that it hides, `block` the block that it ends with.
    """

    name: str
    place: int
    certain: bool
    block: int
    outer: Variable | None

    def find(self, variables: list[object]) -> int | None:
        """The place that the name means in an execution; None where nothing is declared."""
        variable: Variable | None = self
        while variable is not None and variables[variable.place] is UNSET:
            variable = None if variable.certain else variable.outer
        return variable.place if variable else None


class Scope:
    """The variables of one definition while it is compiled, and what dot is an element of."""

    def __init__(self) -> None:
        self.size = 0
        self.block = self.blocks = 0
        self.uncertain = 0
        """Greater than 0 inside of what may not be evaluated."""
        self.container: int | None = None
        """Where the container stands that dot is an element of, inside of a loop."""
        self.declared: list[Variable] = []
        self.visible: dict[str, Variable] = {}
        self.declare("$")

    def reserve(self) -> int:
        """A new place."""
        self.size += 1
        return self.size - 1

    def declare(self, name: str) -> Variable:
        """A new variable.

        In one block, uncertain declarations of a name may share a place: none ends before the
        others.
        """
        outer = self.visible.get(name)
        if self.uncertain and outer and not outer.certain and outer.block == self.block:
            return outer
        variable = Variable(name, self.reserve(), not self.uncertain, self.block, outer)
        self.declared.append(variable)
        self.visible[name] = variable
        return variable

    def find(self, name: str) -> Variable | None:
        """What a name means here; None where nothing of that name is declared."""
        return self.visible.get(name)

    @contextmanager
    def inside(self, unset: list[int]) -> Iterator[None]:
        """A block, with which its declarations end.

        Adds the places that are to be unset before each execution of the block.
        """
        count, outer = len(self.declared), self.block
        self.blocks += 1
        self.block = self.blocks
        yield
        self.block = outer
        while len(self.declared) > count:
            variable = self.declared.pop()
            if not variable.certain:
                unset.append(variable.place)
            if variable.outer is None:
                del self.visible[variable.name]
            else:
                self.visible[variable.name] = variable.outer
