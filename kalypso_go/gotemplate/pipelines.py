"""Compile pipelines, commands and operands to closures: variables, fields, methods, calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from kalypso_go.gotemplate.builtins import AND, OR
from kalypso_go.gotemplate.calls import NO_FINAL, Argument, Call, constantly, last_of, untyped
from kalypso_go.gotemplate.errors import TemplateError
from kalypso_go.gotemplate.execution import Definition, Evaluate, Expression, State
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
from kalypso_go.gotemplate.values import NO_VALUE, Function, GoInt, GoMap, GoStruct, type_of


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


class Fields:
    """The field names after a receiver.

    Errors of methods name `node`, other errors name `last`; `is_interface` returns whether the
    receiver has the type `interface {}` in Go.
    """

    def __init__(
        self,
        definition: Definition,
        node: Node,
        names: Sequence[str],
        last: Node | None,
        is_interface: Callable[[State], bool] | None = None,
    ) -> None:
        self.definition = definition
        self.node = node
        self.names = tuple(names)
        self.last = last
        self.is_interface = is_interface

    def of(self, receiver: Evaluate) -> Expression:
        """Compile the fields of an evaluated receiver."""
        read = self.of_dot().evaluate

        def fields(state: State, dot: object) -> object:
            return read(state, receiver(state, dot))

        return Expression(fields, self.last)

    def of_variable(self, slot: int) -> Expression:
        """Compile the fields of a variable, most often of `$`."""
        read = self.of_dot().evaluate

        def fields(state: State, _: object) -> object:
            return read(state, state.variables[slot])

        return Expression(fields, self.last)

    def of_dot(self) -> Expression:
        """Compile the fields of dot; most are `.Field` or `.Field.key` of the data."""
        walk, names = self.walk, self.names
        name, key = names[0], names[-1]

        def field(state: State, dot: object) -> object:
            if type(dot) is GoStruct:
                try:
                    return dot.fields[name]
                except KeyError:
                    pass
            return walk(state, dot, names)

        def entry(state: State, dot: object) -> object:
            if type(dot) is GoStruct:
                try:
                    mapping = dot.fields[name]
                    if type(mapping) is GoMap and mapping.type.has_names:
                        return mapping[key]
                except KeyError:
                    pass
            return walk(state, dot, names)

        def fields(state: State, dot: object) -> object:
            return walk(state, dot, names)

        evaluate = {1: field, 2: entry}.get(len(names), fields)
        return Expression(evaluate, self.last)

    def with_arguments(self, receiver: Evaluate | None, arguments: Sequence[Argument]) -> Evaluate:
        """Compile fields whose last name has arguments or follows a pipe; no receiver means dot.

        The node that later errors name is known only at run time.
        """
        *names, name = self.names

        def apply(state: State, dot: object, final: object = NO_FINAL) -> object:
            container, value = None, receiver(state, dot) if receiver else dot
            for step in names:
                container, value = value, self.walk(state, value, (step,), container)
            if value is NO_VALUE:
                state.node = self.last or state.node
                return NO_VALUE
            method = _method(value, name)
            if method is None:
                raise self._no_method(state, value, name, container)
            call = self._call(method, arguments, piped=final is not NO_FINAL)
            result = call(state, dot, final)
            last = last_of(arguments[-1]) if arguments else self.last
            state.node = last or state.node
            return result

        return apply

    def walk(
        self, state: State, value: Any, names: Sequence[str], container: object = None
    ) -> object:
        """Follow the names; `container` is the value that contains `value`, if any."""
        result: object
        for name in names:
            kind = type(value)
            if kind is GoStruct and name in value.fields:
                result = value.fields[name]
            elif kind is dict or (kind is GoMap and value.type.has_names):
                result = value.get(name, NO_VALUE)
            elif value is NO_VALUE:
                return value
            elif (method := _method(value, name)) is not None:
                result = self._call(method, (), piped=False)(state, value)
            else:
                raise self._no_field(state, value, name, container)
            container, value = value, result
        return value

    def _call(self, method: Function, arguments: Sequence[Argument], *, piped: bool) -> Evaluate:
        call = Call(self.definition, method, arguments, node=self.node, last=self.last, piped=piped)
        return call.compile()

    def _no_method(
        self, state: State, value: object, name: str, container: object
    ) -> TemplateError:
        """Return the error for arguments to a name that is not a method."""
        if isinstance(value, GoStruct) and name in value.fields:
            detail = f"{name} has arguments but cannot be invoked as function"
        elif isinstance(value, dict) and _has_names(value):
            detail = f"{name} is not a method but has arguments"
        else:
            return self._no_field(state, value, name, container)
        return self.definition.late_error(state, self.last, detail)

    def _no_field(self, state: State, value: object, name: str, container: object) -> TemplateError:
        """Return the error for a missing field, with the type that Go reports."""
        if container is None:
            is_interface = self.is_interface is not None and self.is_interface(state)
        else:
            is_interface = holds_interfaces(container)
        type_ = "interface {}" if is_interface or value is None else str(type_of(value))
        if value is None:
            detail = f"nil pointer evaluating {type_}.{name}"
        elif isinstance(value, GoStruct) and name in value.hidden:
            detail = f"{name} is an unexported field of struct type {type_}"
        else:
            detail = f"can't evaluate field {name} in type {type_}"
        return self.definition.late_error(state, self.last, detail)


def _method(value: object, name: str) -> Function | None:
    return value.methods.get(name) if isinstance(value, GoStruct | GoInt) else None


def _has_names(mapping: dict[object, object]) -> bool:
    """Return whether names can be keys of the map."""
    return not isinstance(mapping, GoMap) or mapping.type.has_names


def holds_interfaces(container: object, *, keys: bool = False) -> bool:
    """Return whether a map or slice declares its elements (or keys) as `interface {}`."""
    go_type = type_of(container)
    part = go_type and (go_type.key if keys else go_type.elem)
    return part is not None and part.kind == "interface"


class _Unset:
    """The value of a slot whose variable this execution has not declared."""


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration; it is `certain` if every execution makes it before any later use.

    It ends with `block`, and hides `outer`, an earlier declaration of the same name.
    """

    name: str
    slot: int
    certain: bool
    block: int
    outer: Declaration | None

    def find(self, variables: list[object]) -> int | None:
        """Return the slot that the name means in an execution; None if nothing is declared."""
        variable: Declaration | None = self
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
        self.declared: list[Declaration] = []
        self.visible: dict[str, Declaration] = {}
        self.declare("$")

    def reserve(self) -> int:
        """Reserve a slot."""
        self.size += 1
        return self.size - 1

    def declare(self, name: str) -> Declaration:
        """Declare a variable.

        Uncertain declarations of a name in one block share a slot, because they end together.
        """
        outer = self.visible.get(name)
        if self.uncertain and outer and not outer.certain and outer.block == self.block:
            return outer
        variable = Declaration(name, self.reserve(), not self.uncertain, self.block, outer)
        self.declared.append(variable)
        self.visible[name] = variable
        return variable

    def find(self, name: str) -> Declaration | None:
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
