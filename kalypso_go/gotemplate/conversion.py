"""Check and convert arguments to the types of parameters, like Go's text/template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import NamedTuple

from kalypso_go.gotemplate.execution import Definition, Evaluate, Expression, State
from kalypso_go.gotemplate.indexing import zero
from kalypso_go.gotemplate.nodes import Bool, Nil, Node, Number, String
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    BOOL,
    FLOAT64,
    INT,
    NO_VALUE,
    REFLECT_VALUE,
    STRING,
    Function,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    NoValue,
    Type,
    type_of,
)

_VALUES = frozenset(
    {
        NoneType,
        str,
        bool,
        int,
        float,
        complex,
        dict,
        list,
        GoInt,
        GoMap,
        GoSlice,
        GoStruct,
        Function,
    }
)
_ACCEPTED: dict[Type, frozenset[type]] = {
    REFLECT_VALUE: _VALUES | {NoValue},
    ANY: _VALUES,
    STRING: frozenset({str}),
    BOOL: frozenset({bool}),
    INT: frozenset({int}),
    FLOAT64: frozenset({float}),
    ANY_MAP: frozenset({dict}),
    ANY_SLICE: frozenset({list}),
}
_NILLABLE = frozenset({"interface", "map", "ptr", "slice", "func"})
_WIDTHS = {"8": 8, "16": 16, "32": 32}


Constant = Bool | Nil | Number | String

Argument = Expression | Constant
"""An argument of a call: compiled, or a constant that takes the type of the parameter."""


def last_of(argument: Argument) -> Node | None:
    """Return the node that errors name once the argument has been evaluated."""
    return argument.last if isinstance(argument, Expression) else argument


Convert = Callable[[State, object], object]


class Check(NamedTuple):
    """The classes of values that a parameter accepts unchanged, and the conversion of others."""

    accepts: frozenset[type]
    convert: Convert


@dataclass(frozen=True, slots=True)
class Bound:
    """An argument bound to a parameter; `constant` is its value, if it is always the same."""

    evaluate: Evaluate
    check: Check
    last: Node | None
    constant: object = None


def bind(definition: Definition, argument: Argument, type_: Type) -> Bound:
    """Bind an argument to a parameter of this type."""
    if isinstance(argument, Expression):
        check = checked(definition, argument.last, type_)
        return Bound(argument.evaluate, check, argument.last)
    check = Check(_ACCEPTED[REFLECT_VALUE], _unchanged)
    try:
        value = constant(argument, type_)
    except ValueError as error:
        return Bound(definition.failing(argument, str(error)), check, argument)
    return Bound(constantly(value), check, argument, value)


def constantly(value: object) -> Evaluate:
    """Return an evaluation that always gives the same value."""

    def evaluate(_: State, __: object) -> object:
        return value

    return evaluate


def _unchanged(_: State, value: object) -> object:
    return value


def checked(definition: Definition, last: Node | None, type_: Type) -> Check:
    """Return the check of values for a parameter's type; errors name `last`."""
    takes_all = type_ in {ANY, REFLECT_VALUE}

    def convert(state: State, value: object) -> object:
        if isinstance(value, GoMap | GoSlice) and value.type is type_:
            return value
        if value is NO_VALUE:
            if can_be_nil(type_):
                return nil(type_)
            raise definition.late_error(state, last, f"invalid value; expected {type_}")
        if takes_all:
            return value
        actual = type_of(value) or ANY
        if actual.name == type_.name:
            return value
        if isinstance(value, GoStruct) and value.pointer and value.type.name == type_.name:
            return GoStruct(value.type, value.fields, value.methods, hidden=value.hidden)
        raise definition.late_error(
            state, last, f"wrong type for value; expected {type_}; got {actual}"
        )

    return Check(_ACCEPTED.get(type_, frozenset()), convert)


def can_be_nil(type_: Type) -> bool:
    """Return whether `nil` may stand for a value of this type."""
    return type_.kind in _NILLABLE or type_ == REFLECT_VALUE


def nil(type_: Type) -> object:
    """Return `nil` as a value of this type."""
    return NO_VALUE if type_ == REFLECT_VALUE else zero(type_)


def constant(node: Constant, type_: Type) -> object:
    """Return a constant as a value of a parameter's type; raise ValueError with Go's text."""
    if isinstance(node, Nil):
        if can_be_nil(type_):
            return nil(type_)
        raise ValueError(f"cannot assign nil to {type_}")
    if type_ in {ANY, REFLECT_VALUE}:
        return untyped(node)
    if type_.kind == "bool":
        if isinstance(node, Bool):
            return node.value
        raise ValueError(f"expected bool; found {node}")
    if type_.kind == "string":
        if isinstance(node, String):
            return node.text
        raise ValueError(f"expected string; found {node}")
    if type_.kind.startswith(("int", "uint", "float", "complex")) and type_.kind != "interface":
        return _number(node, type_)
    raise ValueError(f"can't handle {node} for arg of type {type_}")


def _number(node: Constant, type_: Type) -> object:
    number = node if isinstance(node, Number) else Number(node.position, str(node))
    if type_.kind.startswith("complex"):
        if number.complex is not None:
            return number.complex
        raise ValueError(f"expected complex; found {node}")
    if type_.kind.startswith("float"):
        if number.floating is not None:
            return number.floating
        raise ValueError(f"expected float; found {node}")
    if type_.kind.startswith("uint"):
        if number.unsigned is not None:
            return GoInt(type_, number.unsigned % (1 << _bits(type_)))
        raise ValueError(f"expected unsigned integer; found {node}")
    if number.integer is None:
        raise ValueError(f"expected integer; found {node}")
    half = 1 << (_bits(type_) - 1)
    value = (number.integer + half) % (2 * half) - half
    return value if type_.name == "int" else GoInt(type_, value)


def _bits(type_: Type) -> int:
    return _WIDTHS.get(type_.kind.lstrip("uint"), 64)


def untyped(node: Bool | Number | String) -> object:
    """Return the value of a constant without the type of a parameter.

    Raises ValueError with Go's text.
    """
    if isinstance(node, Bool):
        return node.value
    if isinstance(node, String):
        return node.text
    if node.complex is not None:
        return node.complex
    if node.floating is not None and _looks_floating(node.text):
        return node.floating
    if node.integer is not None:
        return node.integer
    raise ValueError(f"{node} overflows int")


def _looks_floating(text: str) -> bool:
    """Return whether a number is written as a float; Go overlooks `0x` after a sign."""
    if text[0] == "'" or (len(text) > 2 and text[:2] in {"0x", "0X"} and not set(text) & set("pP")):
        return False
    return bool(set(text) & set(".eEpP"))
