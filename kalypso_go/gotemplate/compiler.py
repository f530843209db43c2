"""Compile texts, actions and controls to closures, which never change afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.cursor import Source
from kalypso_go.gotemplate.execution import (
    BreakLoop,
    ContinueLoop,
    Definition,
    Evaluate,
    Run,
    State,
    Steps,
)
from kalypso_go.gotemplate.loops import Loop
from kalypso_go.gotemplate.nodes import (
    Action,
    Body,
    Break,
    Continue,
    If,
    Pipe,
    Range,
    Statement,
    TemplateCall,
    Text,
    With,
)
from kalypso_go.gotemplate.pipelines import PipelineCompiler
from kalypso_go.gotemplate.printed_runs import PrintedRun
from kalypso_go.gotemplate.quoting import quote
from kalypso_go.gotemplate.scope import UNSET, Scope, Variable
from kalypso_go.gotemplate.values import NO_VALUE, Function


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


def compile_trees(
    source: Source, trees: Mapping[str, Body], functions: Mapping[str, Function]
) -> dict[str, Program]:
    """Compile all definitions of a template, which may call one another."""
    programs = {name: Program() for name in trees}
    for name, body in trees.items():
        compiler = _Compiler(Definition(source, name), functions, programs)
        compiler.fill(programs[name], body)
    return programs


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
            for condition, steps in cases:
                if condition(state, dot):
                    for step in steps:
                        step(state, dot)
                    return
            for step in otherwise:
                step(state, dot)

        return _after(_unsetting(unset), run) if unset else run

    def with_(self, node: With) -> Run:
        cases, otherwise, unset = self.cases(node)

        def run(state: State, dot: object) -> None:
            for condition, steps in cases:
                value = condition(state, dot)
                if value:
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

    def loop_variables(self, pipe: Pipe) -> tuple[Variable | None, Variable | None]:
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
