"""`range`: over maps in order, slices and integers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from kalypso_actions.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError
from kalypso_actions.gotemplate.errors import TemplateError
from kalypso_actions.gotemplate.execution import (
    BreakLoop,
    ContinueLoop,
    Definition,
    Expression,
    Run,
    State,
    Steps,
)
from kalypso_actions.gotemplate.fields import holds_interfaces
from kalypso_actions.gotemplate.nodes import Range
from kalypso_actions.gotemplate.ordering import sorted_keys
from kalypso_actions.gotemplate.printf import sprintf
from kalypso_actions.gotemplate.scope import Variable
from kalypso_actions.gotemplate.values import (
    NO_VALUE,
    FunctionError,
    GoInt,
    GoStruct,
    plain_key,
    type_of,
)


class _Elements(NamedTuple):
    """The keys and elements of a loop, as they are when it begins."""

    keys: Iterable[object]
    elements: Iterable[object]
    length: int


_NOTHING = _Elements((), (), 0)


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
        begin, run_empty = self.begin, _run_otherwise
        error, pipe = self.definition.error, self.node.pipe
        length = len(str(self.node.body))

        def loop(state: State, dot: object) -> None:
            elements, slots, marked = begin(state, dot)
            if not elements.length:
                run_empty(otherwise, state, dot)
                return
            count_iteration, variables = state.budget.count_iteration, state.variables
            key_slot, slot = slots
            try:
                for key, element in zip(elements.keys, elements.elements, strict=False):
                    count_iteration(length, "the loop")
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

    def begin(self, state: State, dot: object) -> tuple[_Elements, tuple[int, int], set[int]]:
        """Return the elements, the slots for key and element, and those of type `interface {}`."""
        value = self.pipe.evaluate(state, dot)
        variables = state.variables
        variables[self.container] = value
        elements = self.elements(state, value)
        slot = self.element.find(variables) if self.element else None
        key_slot = self.key.find(variables) if self.key else None
        marked = _marked(value, key_slot, slot) if self.element else set()
        unused = self.unused
        slots = (unused if key_slot is None else key_slot, unused if slot is None else slot)
        return elements, slots, marked

    def elements(self, state: State, value: object) -> _Elements:
        """Return the elements of a value."""
        if isinstance(value, list):
            return _Elements(range(len(value)), value, len(value))
        if isinstance(value, dict):
            keys = sorted_keys(value)
            return _Elements(map(plain_key, keys), [value[key] for key in keys], len(keys))
        if value is NO_VALUE or value is None:
            return _NOTHING
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
        return _Elements(repeat(NO_VALUE), numbers, max(value, 0))

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


def _marked(container: object, key: int | None, element: int | None) -> set[int]:
    """Return the slots of the variables whose values have the type `interface {}` in Go."""
    slots = set()
    if element is not None and holds_interfaces(container):
        slots.add(element)
    if key is not None and holds_interfaces(container, keys=True):
        slots.add(key)
    return slots
