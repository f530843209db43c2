"""Variables: names at compile time, slots of the state's list at run time.

Each declaration has its own slot. A name refers to the last declaration before it whose block has
not ended. Only after `and` and `or` does this depend on the execution: `{{or .A ($x := 1)}}`
declares nothing if `.A` is true, and `$x` then keeps its earlier meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final


class _Unset:
    """The value of a slot whose variable this execution has not declared."""


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration; it is `certain` if every execution makes it before any later use.

    It ends with `block`, and hides `outer`, an earlier declaration of the same name.
    """

    name: str
    slot: int
    certain: bool
    block: int
    outer: Variable | None

    def find(self, variables: list[object]) -> int | None:
        """Return the slot that the name means in an execution; None if nothing is declared."""
        variable: Variable | None = self
        while variable is not None and variables[variable.slot] is UNSET:
            variable = None if variable.certain else variable.outer
        return variable.slot if variable else None


class Scope:
    """The variables of one definition during compilation, and the container of dot."""

    def __init__(self) -> None:
        self.size = 0
        self.block = self.blocks = 0
        self.uncertain = 0
        """Greater than 0 inside operands that may not be evaluated."""
        self.container: int | None = None
        """Inside a loop, the slot of the container that holds dot."""
        self.declared: list[Variable] = []
        self.visible: dict[str, Variable] = {}
        self.declare("$")

    def reserve(self) -> int:
        """Reserve a slot."""
        self.size += 1
        return self.size - 1

    def declare(self, name: str) -> Variable:
        """Declare a variable.

        Uncertain declarations of a name in one block share a slot, because they end together.
        """
        outer = self.visible.get(name)
        if self.uncertain and outer and not outer.certain and outer.block == self.block:
            return outer
        variable = Variable(name, self.reserve(), not self.uncertain, self.block, outer)
        self.declared.append(variable)
        self.visible[name] = variable
        return variable

    def find(self, name: str) -> Variable | None:
        """Return the declaration that a name refers to; None if there is none."""
        return self.visible.get(name)

    @contextmanager
    def inside(self, unset: list[int]) -> Iterator[None]:
        """Enter a block, whose declarations end with it.

        Adds to `unset` the slots to unset before each execution of the block.
        """
        count, outer = len(self.declared), self.block
        self.blocks += 1
        self.block = self.blocks
        yield
        self.block = outer
        while len(self.declared) > count:
            variable = self.declared.pop()
            if not variable.certain:
                unset.append(variable.slot)
            if variable.outer is None:
                del self.visible[variable.name]
            else:
                self.visible[variable.name] = variable.outer
