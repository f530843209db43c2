"""Variables: names at compile time, places in the state's list at run time.

Each declaration has a place of its own. A name means the last declaration before it in the
text, of those whose block has not ended. Only behind `and` and `or` does it take the execution to
know: `{{or .A ($x := 1)}}` declares nothing where `.A` is true, and `$x` is then what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_actions.gotemplate.values import type_of


class _Unset:
    """Stands at the place of a variable that was not declared in this execution."""


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True)
class Held:
    """Where the container stands that a loop takes elements from; `keys` for its keys.

    Go remembers whether such a value came out of an `interface {}`, and says so in errors.
    """

    place: int
    keys: bool = False

    def is_interface(self, variables: list[object]) -> bool:
        """Whether elements (or keys) of the container are declared as `interface {}`."""
        return holds_interfaces(variables[self.place], keys=self.keys)


def holds_interfaces(container: object, *, keys: bool = False) -> bool:
    """Whether the type of a map or slice declares its elements, or keys, as `interface {}`."""
    known = type_of(container)
    part = known and (known.key if keys else known.elem)
    return part is not None and part.kind == "interface"


@dataclass(frozen=True, slots=True)
class Binding:
    """A declared variable. `certain` where every execution that comes by has declared it."""

    name: str
    place: int
    certain: bool
    held: Held | None
    outer: Binding | None


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name means: the first of these places that is set; none is an error.

    `certain` where the first is set always.
    """

    places: tuple[int, ...]
    certain: bool = False
    held: Held | None = None

    def place(self, variables: list[object]) -> int | None:
        """The place that the name means in an execution; None where it is not declared."""
        for place in self.places:
            if variables[place] is not UNSET:
                return place
        return None


class Scope:
    """The variables of one definition while it is compiled, and where dot comes from."""

    def __init__(self) -> None:
        self.binding: Binding | None = None
        self.size = 0
        self.uncertain = 0
        self.dot: Held | None = None
        self.declare("$")

    def reserve(self) -> int:
        """A new place."""
        self.size += 1
        return self.size - 1

    def declare(self, name: str, held: Held | None = None) -> int:
        """A place for a new variable."""
        place = self.reserve()
        self.binding = Binding(name, place, not self.uncertain, held, self.binding)
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
        return Variable(places, found[0].certain, found[0].held)

    def latest(self, count: int) -> list[Variable]:
        """The variables declared last, in the order of their declaration."""
        found: list[Variable] = []
        binding = self.binding
        while binding is not None and len(found) < count:
            found.insert(0, Variable((binding.place,), certain=True, held=binding.held))
            binding = binding.outer
        return found
