"""Compile pipelines, commands and operands to closures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kalypso_go.gotemplate.builtins import AND, OR
from kalypso_go.gotemplate.calls import Call
from kalypso_go.gotemplate.conversion import Argument, constantly, untyped
from kalypso_go.gotemplate.execution import (
    Definition,
    Evaluate,
    Expression,
    State,
)
from kalypso_go.gotemplate.fields import Fields, holds_interfaces
from kalypso_go.gotemplate.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Node,
    Number,
    Operand,
    Pipe,
    String,
    Variable,
)
from kalypso_go.gotemplate.scope import Scope
from kalypso_go.gotemplate.values import NO_VALUE, Function


class PipelineCompiler:
    """Compiles the pipelines of one definition, in the order of the text."""

    def __init__(
        self, definition: Definition, functions: Mapping[str, Function], scope: Scope
    ) -> None:
        self.definition = definition
        self.functions = functions
        self.scope = scope

    def pipe(self, node: Pipe) -> Expression:
        """Compile a pipeline: commands pass on their values, and variables take the last value."""
        commands = [self.command(node.commands[0], node, piped=False)]
        for command in node.commands[1:]:
            commands.append(self.command(command, commands[-1].last, piped=True))
        expression = _pipeline(commands)
        for variable in node.variables:
            keep = self.assign if node.assigns else self.declare
            expression = keep(variable, expression)
        return expression

    # Variables

    def declare(self, node: Variable, value: Expression) -> Expression:
        """Compile the declaration of a variable."""
        evaluate = value.unwrapped()
        slot = self.scope.declare(node.names[0]).slot

        def declare(state: State, dot: object) -> object:
            state.variables[slot] = kept = evaluate(state, dot)
            if slot in state.elements:
                state.elements -= {slot}
            return kept

        return Expression(declare, value.last, nullable=False)

    def assign(self, node: Variable, value: Expression) -> Expression:
        """Compile the assignment to a variable."""
        name, evaluate = node.names[0], value.unwrapped()
        variable = self.scope.find(name)

        def assign(state: State, dot: object) -> object:
            kept = evaluate(state, dot)
            slot = variable.find(state.variables) if variable else None
            if slot is None:
                raise self.definition.late_error(state, value.last, f"undefined variable: {name}")
            state.variables[slot] = kept
            if slot in state.elements:
                state.elements -= {slot}
            return kept

        return Expression(assign, value.last, nullable=False)

    def variable(self, node: Variable) -> Evaluate:
        """Compile the value of the variable that a node begins with."""
        name = node.names[0]
        variable = self.scope.find(name)
        if variable is not None and variable.certain:
            certain = variable.slot

            def read(state: State, _: object) -> object:
                return state.variables[certain]

            return read

        def find(state: State, _: object) -> object:
            slot = variable.find(state.variables) if variable else None
            if slot is None:
                raise self.definition.error(node, f"undefined variable: {name}")
            return state.variables[slot]

        return find

    # Commands

    def command(self, node: Command, before: Node | None, *, piped: bool) -> Expression:
        """Compile a command; errors before its first word is evaluated name `before`."""
        word, rest = node.arguments[0], node.arguments[1:]
        if isinstance(word, Identifier):
            return self.call(word, rest, node=node, piped=piped)
        if not rest and not piped:
            return self.single(word)
        if isinstance(word, Field | Chain) or (isinstance(word, Variable) and word.names[1:]):
            return self.fields_with_arguments(word, rest)
        detail = f"can't give argument to non-function {word}"
        last = before if isinstance(word, Pipe) else word
        read = self.variable(word) if isinstance(word, Variable) else _dot

        def fail(state: State, dot: object, _: object = None) -> object:
            read(state, dot)
            raise self.definition.late_error(state, last, detail)

        return Expression(fail, last)

    def single(self, node: Operand) -> Expression:
        """Compile a command of one word."""
        if isinstance(node, Bool | Number | String):
            try:
                return Expression(constantly(untyped(node)), node, nullable=False)
            except ValueError as error:
                return Expression(self.definition.failing(node, str(error)), node)
        if isinstance(node, Nil):
            return Expression(self.definition.failing(node, "nil is not a command"), node)
        return self.operand(node)

    def call(
        self, word: Identifier, arguments: Sequence[Operand], *, node: Node, piped: bool
    ) -> Expression:
        """Compile a call of a function."""
        function = self.functions[word.name]
        lazy = function is AND or function is OR
        compiled: list[Argument] = []
        for index, argument in enumerate(arguments):
            self.scope.uncertain += lazy and index > 0
            compiled.append(self.argument(argument))
            self.scope.uncertain -= lazy and index > 0
        call = Call(self.definition, function, compiled, node=node, last=word, piped=piped)
        evaluate = call.compile()
        last = None if lazy and len(arguments) > 1 else call.last
        nullable = function.result.kind == "interface" or function.result.name == "reflect.Value"
        return Expression(evaluate, last, nullable)

    def fields_with_arguments(
        self, word: Field | Chain | Variable, rest: Sequence[Operand]
    ) -> Expression:
        """Compile fields; the last one has arguments, so it must be a method."""
        receiver, fields = self.fields(word)
        arguments = [self.argument(argument) for argument in rest]
        return Expression(fields.with_arguments(receiver, arguments), None)

    # Operands

    def argument(self, node: Operand) -> Argument:
        """Compile an argument of a call; constants stay nodes until a parameter gives a type."""
        if isinstance(node, Bool | Nil | Number | String):
            return node
        expression = self.operand(node)
        if isinstance(node, Pipe):
            return Expression(expression.unwrapped(), expression.last, nullable=False)
        return expression

    def operand(self, node: Chain | Dot | Field | Identifier | Pipe | Variable) -> Expression:
        """Compile an operand other than a constant."""
        if isinstance(node, Dot):
            return Expression(_dot, node)
        if isinstance(node, Identifier):
            return self.call(node, (), node=node, piped=False)
        if isinstance(node, Pipe):
            return self.pipe(node)
        if isinstance(node, Variable) and len(node.names) == 1:
            return Expression(self.variable(node), node)
        receiver, fields = self.fields(node)
        variable = self.scope.find(node.names[0]) if isinstance(node, Variable) else None
        if variable is not None and variable.certain:
            return fields.of_variable(variable.slot)
        return fields.of_dot() if receiver is None else fields.of(receiver)

    def fields(self, node: Chain | Field | Variable) -> tuple[Evaluate | None, Fields]:
        """Return the evaluation of the receiver (None for dot) and the fields of a node."""
        if isinstance(node, Field):
            return None, Fields(self.definition, node, node.names, node, self.dot_is_interface())
        if isinstance(node, Variable):
            variable = self.scope.find(node.names[0])

            def is_element(state: State) -> bool:
                return variable is not None and variable.find(state.variables) in state.elements

            fields = Fields(self.definition, node, node.names[1:], node, is_element)
            return self.variable(node), fields
        receiver = self.operand(node.node)
        if isinstance(node.node, Pipe):
            fields = Fields(self.definition, node, node.names, receiver.last)
            return receiver.unwrapped(), fields
        declared = self.functions[node.node.name].result.kind == "interface"
        fields = Fields(self.definition, node, node.names, receiver.last, lambda _: declared)
        return receiver.evaluate, fields

    def dot_is_interface(self) -> Callable[[State], bool] | None:
        """Return a test for whether Go gives dot the type `interface {}`; None outside loops."""
        container = self.scope.container
        if container is None:
            return None

        def is_interface(state: State) -> bool:
            return holds_interfaces(state.variables[container])

        return is_interface


def _dot(_: State, dot: object) -> object:
    return dot


def _pipeline(commands: Sequence[Expression]) -> Expression:
    """Chain commands; each passes its value to the next."""
    first, last = commands[0], commands[-1]
    if len(commands) == 1:
        return first
    evaluate, apply = first.evaluate, last.evaluate
    between = [command.evaluate for command in commands[1:-1]]

    def pipe_of_two(state: State, dot: object) -> object:
        value = evaluate(state, dot)
        return apply(state, dot, NO_VALUE if value is None else value)

    def pipe(state: State, dot: object) -> object:
        value = evaluate(state, dot)
        for command in between:
            value = command(state, dot, NO_VALUE if value is None else value)
        return apply(state, dot, NO_VALUE if value is None else value)

    return Expression(pipe if between else pipe_of_two, last.last, last.nullable)
