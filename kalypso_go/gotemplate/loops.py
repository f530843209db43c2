"""`range`: over maps in order, slices and integers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError
from kalypso_go.gotemplate.errors import TemplateError
from kalypso_go.gotemplate.execution import (
    BreakLoop,
    ContinueLoop,
    Definition,
    Expression,
    Run,
    State,
    Steps,
)
from kalypso_go.gotemplate.fields import holds_interfaces
from kalypso_go.gotemplate.nodes import Range
from kalypso_go.gotemplate.ordering import sorted_keys
from kalypso_go.gotemplate.printf import sprintf
from kalypso_go.gotemplate.scope import Variable
from kalypso_go.gotemplate.values import (
    NO_VALUE,
    FunctionError,
    GoInt,
    GoStruct,
    plain_key,
    type_of,
)

_Elements = tuple[Iterable[object], Iterable[object], int]
"""The keys and elements of a loop, as they are when it begins, and their number."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its pipeline, and the variables for keys and elements.

    The state keeps the value of the pipeline in the slot `container`; the slot `unused` takes keys
    and elements that have no variable.
    """

    definition: Definition
    node: Range
    pipe: Expression
    container: int
    unused: int
    key: Variable | None
    element: Variable | None

    def compile(self, steps: Steps, otherwise: Steps) -> Run:
        """Return a step that runs `steps` for each element, or `otherwise` if there is none."""
        evaluate, container, elements_of = self.pipe.evaluate, self.container, self.elements
        error, pipe = self.definition.error, self.node.pipe
        size = len(str(self.node.body))
        certain_slots = self.certain_slots()

        def loop(state: State, dot: object) -> None:
            variables = state.variables
            variables[container] = value = evaluate(state, dot)
            keys, elements, length = elements_of(state, value)
            if not length:
                _run_otherwise(otherwise, state, dot)
                return
            key_slot, slot = certain_slots or self.slots(variables)
            marked = _marked(value, key_slot, slot) if self.element else None
            count_iteration = state.budget.count_iteration
            try:
                for key, element in zip(keys, elements, strict=False):
                    count_iteration(size, "the loop")
                    variables[slot] = element
                    variables[key_slot] = key
                    if marked:
                        state.elements |= marked
                    try:
                        for step in steps:
                            step(state, element)
                    except ContinueLoop:
                        continue
            except BreakLoop:
                return
            except LimitError as exceeded:
                raise error(pipe, str(exceeded)) from None

        return loop

    def certain_slots(self) -> tuple[int, int] | None:
        """Return the slots for keys and elements if they are the same in each execution."""
        key, element = self.key, self.element
        if (key and not key.certain) or (element and not element.certain):
            return None
        return key.slot if key else self.unused, element.slot if element else self.unused

    def slots(self, variables: list[object]) -> tuple[int, int]:
        """Return the slots for keys and elements in an execution."""
        key = self.key.find(variables) if self.key else None
        element = self.element.find(variables) if self.element else None
        return self.unused if key is None else key, self.unused if element is None else element

    def elements(self, state: State, value: object) -> _Elements:
        """Return the elements of a value."""
        if isinstance(value, list):
            return range(len(value)), value, len(value)
        if isinstance(value, dict):
            keys = sorted_keys(value)
            return map(plain_key, keys), [value[key] for key in keys], len(keys)
        if value is NO_VALUE or value is None:
            return (), (), 0
        if isinstance(value, int) and not isinstance(value, bool):
            return self.integers(state, value)
        if isinstance(value, GoStruct) and value.pointer:
            value = value.pointed_to()
        raise self.error(state, f"range can't iterate over {_shown(value)}")

    def integers(self, state: State, value: int) -> _Elements:
        """Return the integers below `value`, of the same type."""
        if self.key is not None:
            detail = f"can't use {_shown(value)} to iterate over more than one variable"
            raise self.error(state, detail)
        numbers: Iterable[object] = range(value)
        if isinstance(value, GoInt):
            numbers = (GoInt(value.type, number) for number in range(value))
        return repeat(NO_VALUE), numbers, max(value, 0)

    def error(self, state: State, detail: str) -> TemplateError:
        """Return an error about the value of the pipeline."""
        return self.definition.late_error(state, self.pipe.last, detail)


def _run_otherwise(steps: Steps, state: State, dot: object) -> None:
    """Run the `{{else}}` body; a `{{break}}` in it ends this loop, not the enclosing one."""
    try:
        for step in steps:
            step(state, dot)
    except BreakLoop:
        return


def _shown(value: object) -> str:
    try:
        return sprintf("%v", (value,), Budget(DEFAULT_LIMITS))
    except FunctionError:
        return str(type_of(value))  # the value prints as an address, or is too large


def _marked(container: object, key: int, element: int) -> frozenset[int]:
    """Return the slots of the variables whose values have the type `interface {}` in Go."""
    if type(container) is list:
        return frozenset((element,))
    elements = (element,) if holds_interfaces(container) else ()
    keys = (key,) if holds_interfaces(container, keys=True) else ()
    return frozenset((*elements, *keys))
