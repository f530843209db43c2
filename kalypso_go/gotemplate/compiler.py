"""Compile texts, actions and controls to closures, which never change afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError
from kalypso_go.gotemplate.builtins import display
from kalypso_go.gotemplate.errors import Source, TemplateError
from kalypso_go.gotemplate.execution import (
    BreakLoop,
    ContinueLoop,
    Definition,
    Evaluate,
    Expression,
    Run,
    State,
    Steps,
)
from kalypso_go.gotemplate.nodes import (
    Action,
    Body,
    Break,
    Continue,
    If,
    Node,
    Pipe,
    Range,
    Statement,
    TemplateCall,
    Text,
    With,
)
from kalypso_go.gotemplate.pipelines import (
    UNSET,
    Declaration,
    PipelineCompiler,
    Scope,
    holds_interfaces,
)
from kalypso_go.gotemplate.printf import sprintf
from kalypso_go.gotemplate.text import byte_length, quote
from kalypso_go.gotemplate.values import (
    NO_VALUE,
    Function,
    FunctionError,
    GoInt,
    GoStruct,
    plain_key,
    sorted_keys,
    type_of,
)


def compile_trees(
    source: Source, trees: Mapping[str, Body], functions: Mapping[str, Function]
) -> dict[str, Program]:
    """Compile all definitions of a template, which may call one another."""
    programs = {name: Program() for name in trees}
    for name, body in trees.items():
        compiler = _Compiler(Definition(source, name), functions, programs)
        compiler.fill(programs[name], body)
    return programs


class Program:
    """A compiled definition: `steps` run in order, on `size` variables."""

    __slots__ = ("length", "size", "steps")

    def __init__(self) -> None:
        self.steps: Steps = ()
        self.size = 1
        self.length = 0

    def run(self, dot: object, output: list[str], budget: Budget, depth: int) -> None:
        """Render with `dot`, which is also `$`, in a new state."""
        variables: list[object] = [NO_VALUE] * self.size
        variables[0] = dot
        state = State(output, budget, depth, variables)
        for step in self.steps:
            step(state, dot)


class _Compiler(PipelineCompiler):
    """Compiles one definition."""

    def __init__(
        self,
        definition: Definition,
        functions: Mapping[str, Function],
        programs: Mapping[str, Program],
    ) -> None:
        super().__init__(definition, functions, Scope())
        self.programs = programs
        self.depth = 0
        """The number of bodies around the current place."""

    def fill(self, program: Program, body: Body) -> None:
        program.steps = self.block(body)
        program.size = self.scope.size
        program.length = len(str(body))

    def block(self, body: Body) -> Steps:
        """Compile a body; the scope of its variables ends with it."""
        unset: list[int] = []
        self.depth += 1
        with self.scope.inside(unset):
            steps = tuple(self.statements(body))
        self.depth -= 1
        return (_unsetting(unset), *steps) if unset else steps

    def statements(self, body: Body) -> Iterator[Run]:
        """Yield the steps of a body; texts and actions between two controls become one step."""
        run = PrintedRun(self.definition)
        for node in body.nodes:
            if isinstance(node, Action) and not node.pipe.variables:
                run.add_action(node, self.pipe(node.pipe).evaluate)
                continue
            if run.text or not isinstance(node, Text):
                yield from run.steps()
                run = PrintedRun(self.definition)
            if isinstance(node, Text):
                run.text = node
            else:
                yield _STATEMENTS[type(node)](self, node)
        yield from run.steps()

    def action(self, node: Action) -> Run:
        """Compile an action that gives values to variables, and prints nothing."""
        evaluate = self.pipe(node.pipe).evaluate

        def keep(state: State, dot: object) -> None:
            evaluate(state, dot)

        return keep

    def if_(self, node: If) -> Run:
        cases, otherwise, unset = self.cases(node)

        def run(state: State, dot: object) -> None:
            decisions = state.budget.decisions
            for condition, steps in cases:
                is_true = condition(state, dot)
                if is_true if decisions is None else decisions.decide(bool(is_true)):
                    for step in steps:
                        step(state, dot)
                    return
            for step in otherwise:
                step(state, dot)

        return _after(_unsetting(unset), run) if unset else run

    def with_(self, node: With) -> Run:
        cases, otherwise, unset = self.cases(node)

        def run(state: State, dot: object) -> None:
            decisions = state.budget.decisions
            for condition, steps in cases:
                value = condition(state, dot)
                if value if decisions is None else decisions.decide(bool(value)):
                    for step in steps:
                        step(state, value)
                    return
            for step in otherwise:
                step(state, dot)

        return _after(_unsetting(unset), run) if unset else run

    def cases(self, node: If | With) -> tuple[list[tuple[Evaluate, Steps]], Steps, list[int]]:
        """Compile conditions with their bodies; later cases see the variables of earlier ones.

        Also returns the `else` body, and the slots to unset before the first condition.
        """
        outer = self.scope.container
        inside = None if isinstance(node, With) else outer
        unset: list[int] = []
        cases: list[tuple[Evaluate, Steps]] = []
        with self.scope.inside(unset):
            for case in node.cases:
                condition = self.pipe(case.pipe).evaluate
                self.scope.container = inside
                cases.append((condition, self.block(case.body)))
                self.scope.container = outer
            otherwise = self.block(node.otherwise) if node.otherwise else ()
        return cases, otherwise, unset

    def range_(self, node: Range) -> Run:
        outer = self.scope.container
        container, unused = self.scope.reserve(), self.scope.reserve()
        unset: list[int] = []
        with self.scope.inside(unset):
            pipe = self.pipe(node.pipe)
            variables = self.loop_variables(node.pipe)
            loop = Loop(self.definition, node, pipe, container, unused, *variables)
            self.scope.container = container
            steps = self.block(node.body)
            self.scope.container = outer
            otherwise = self.block(node.otherwise) if node.otherwise else ()
        run = loop.compile(steps, otherwise)
        return _after(_unsetting(unset), run) if unset else run

    def loop_variables(self, pipe: Pipe) -> tuple[Declaration | None, Declaration | None]:
        """Return the variables for keys and elements; a single variable is for elements."""
        names = [variable.names[0] for variable in pipe.variables]
        if pipe.assigns:
            variables = [self.scope.find(name) for name in names]
        else:
            variables = [*self.scope.declared[len(self.scope.declared) - len(names) :]]
        key = variables[0] if len(variables) > 1 else None
        return key, variables[-1] if variables else None

    def template(self, node: TemplateCall) -> Run:
        program = self.programs.get(node.name)
        error = self.definition.error
        if program is None:
            return self.undefined(node)
        evaluate = self.pipe(node.pipe).unwrapped() if node.pipe else _nothing
        deeper = self.depth

        def run(state: State, dot: object) -> None:
            depth, budget = state.depth + deeper, state.budget
            if depth > budget.limits.recursion:
                raise error(node, f"exceeded maximum template depth ({budget.limits.recursion})")
            value = evaluate(state, dot)
            try:
                budget.count_iteration(program.length, "the call")
            except LimitError as exceeded:
                raise error(node, str(exceeded)) from None
            program.run(value, state.output, budget, depth)

        return run

    def undefined(self, node: TemplateCall) -> Run:
        def fail(*_: object) -> None:
            raise self.definition.error(node, f"template {quote(node.name)} not defined")

        return fail


def _jump(jump: type[BreakLoop | ContinueLoop]) -> Run:
    def leave(_: State, __: object) -> None:
        raise jump

    return leave


def _unsetting(slots: list[int]) -> Run:
    """Return a step that unsets variables that an earlier execution may have declared."""

    def unset(state: State, _: object) -> None:
        for slot in slots:
            state.variables[slot] = UNSET

    return unset


def _after(first: Run, run: Run) -> Run:
    """Return a step that runs `first` and then `run`."""

    def both(state: State, dot: object) -> None:
        first(state, dot)
        run(state, dot)

    return both


def _nothing(*_: object) -> object:
    return NO_VALUE


_STATEMENTS: dict[type[Statement], Callable[[_Compiler, Any], Run]] = {
    Action: _Compiler.action,
    If: _Compiler.if_,
    With: _Compiler.with_,
    Range: _Compiler.range_,
    TemplateCall: _Compiler.template,
    Break: lambda *_: _jump(BreakLoop),
    Continue: lambda *_: _jump(ContinueLoop),
}

_Part = tuple[str, int, Evaluate, Action]
"""The text before an action, its bytes, the action's evaluation, and its node.

A plain tuple, because a loop unpacks it faster than a named one.
"""


class PrintedRun:
    """A run of texts and actions, compiled to a single step.

    Each action and the text before it count together against the limit of the output.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.parts: list[_Part] = []
        self.text: Text | None = None
        """The text after the last action."""

    def add_action(self, node: Action, evaluate: Evaluate) -> None:
        """Add an action that prints the value of `evaluate`."""
        before = self.text.text if self.text else ""
        self.parts.append((before, byte_length(before), evaluate, node))
        self.text = None

    def steps(self) -> Steps:
        """Compile the run to one step; there is none if it is empty."""
        if not self.parts and not self.text:
            return ()
        parts, last = tuple(self.parts), self.text
        last_text = last.text if last else ""
        last_size = byte_length(last_text)
        display, exceeded = self._display, self._exceeded

        def write(state: State, dot: object) -> None:
            output, budget = state.output, state.budget
            written, limit = budget.output, budget.output_limit
            for before, size, evaluate, node in parts:
                text = evaluate(state, dot)
                if type(text) is not str:
                    text = display(state, node, text)
                output.append(before)
                output.append(text)
                written += size + (len(text) if text.isascii() else byte_length(text))
                if written > limit:
                    raise exceeded(state, node)
            if last:
                output.append(last_text)
                written += last_size
                if written > limit:
                    raise exceeded(state, last)
            budget.output = written

        return (write,)

    def _exceeded(self, state: State, node: Node) -> Exception:
        """Return the error for an output that is too long."""
        if isinstance(node, Text):
            node = Text(node.position, node.text[:20])
        limit = state.budget.output_limit
        return self.definition.error(node, f"the output goes beyond the limit of {limit} bytes")

    def _display(self, state: State, node: Action, value: object) -> str:
        """Return the text of a value that is not a string."""
        if isinstance(value, Function):
            raise self.definition.error(node, f"can't print {node} of type {value.type}")
        try:
            return display(value, state.budget)
        except FunctionError as error:
            raise self.definition.error(node, str(error)) from None


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
    key: Declaration | None
    element: Declaration | None

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
