"""Variables: names at compile time, places in the state's list at run time.

Each declaration has a place of its own. A name means the last declaration before it in the
text, of those whose block has not ended. Only behind `and` and `or` does it take the execution to
know: `{{or .A ($x := 1)}}` declares nothing where `.A` is true, and `$x` is then what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class _Unset:
    """Stands at the place of a variable that was not declared in this execution."""


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True)
class Binding:
    """A declared variable. `certain` where every execution that comes by has declared it."""

    name: str
    place: int
    certain: bool
    outer: Binding | None


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name means: the first of these places that is set; none is an error.

    `certain` where the first is set always.
    """

    places: tuple[int, ...]
    certain: bool = False

    def place(self, variables: list[object]) -> int | None:
        """The place that the name means in an execution; None where it is not declared."""
        for place in self.places:
            if variables[place] is not UNSET:
                return place
        return None


class Scope:
    """The variables of one definition while it is compiled, and what dot is an element of."""

    def __init__(self) -> None:
        self.binding: Binding | None = None
        self.size = 0
        self.uncertain = 0
        self.container: int | None = None
        """Where the container stands that dot is an element of, inside of a loop."""
        self.declare("$")

    def reserve(self) -> int:
        """A new place."""
        self.size += 1
        return self.size - 1

    def declare(self, name: str) -> int:
        """A place for a new variable."""
        place = self.reserve()
        self.binding = Binding(name, place, not self.uncertain, self.binding)
        return place

    def find(self, name: str) -> Variable:
        """What a name means here; without any place where nothing of that name is declared."""
        found: list[Binding] = []
        binding = self.binding
        while binding is not None and not (found and found[-1].certain):
            if binding.name == name:
                found.append(binding)
            binding = binding.outer
        if not found:
            return Variable(())
        places = tuple(binding.place for binding in found)
        return Variable(places, found[0].certain)

    def latest(self, count: int) -> list[Variable]:
        """The variables declared last, in the order of their declaration."""
        found: list[Variable] = []
        binding = self.binding
        while binding is not None and len(found) < count:
            found.insert(0, Variable((binding.place,), certain=True))
            binding = binding.outer
        return found
