"""`.Name.Name`: fields of structs, entries of maps, and methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kalypso_go.gotemplate.calls import NO_FINAL, Call
from kalypso_go.gotemplate.conversion import Argument, last_of
from kalypso_go.gotemplate.errors import TemplateError
from kalypso_go.gotemplate.execution import Definition, Evaluate, Expression, State
from kalypso_go.gotemplate.nodes import Node
from kalypso_go.gotemplate.values import (
    NO_VALUE,
    Function,
    GoInt,
    GoMap,
    GoStruct,
    type_of,
)


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
