"""`call`: call a function value."""

from __future__ import annotations

from kalypso_go.gotemplate.conversion import can_be_nil, nil
from kalypso_go.gotemplate.values import (
    NO_VALUE,
    Function,
    FunctionError,
    GoInt,
    Type,
    type_of,
)


def call_value(name: str, function: object, *arguments: object) -> object:
    """Go's `call`; `name` is the function's text in the template."""
    if function is None or function is NO_VALUE:
        raise FunctionError("call of nil")
    if not isinstance(function, Function):
        raise FunctionError(f"non-function {name} of type {type_of(function)}")
    types = list(function.parameters)
    if function.variadic:
        least = len(types) - 1
        if len(arguments) < least:
            raise FunctionError(
                f"wrong number of args for {name}: got {len(arguments)} want at least {least}"
            )
        types = [*types[:-1], *[types[-1]] * (len(arguments) - least)]
    elif len(arguments) != len(types):
        raise FunctionError(
            f"wrong number of args for {name}: got {len(arguments)} want {len(types)}"
        )
    values = []
    for place, (argument, type_) in enumerate(zip(arguments, types, strict=True)):
        try:
            values.append(_prepared(argument, type_))
        except FunctionError as error:
            raise FunctionError(f"arg {place}: {error}") from None
    return function.call(*values)


def _prepared(value: object, type_: Type) -> object:
    if value is None or value is NO_VALUE:
        if not can_be_nil(type_):
            raise FunctionError(f"value is nil; should be of type {type_}")
        return nil(type_)
    actual = str(type_of(value))
    if type_.kind == "interface" or actual == type_.name:
        return value
    integers = isinstance(value, int) and not isinstance(value, bool)
    if integers and type_.kind.startswith(("int", "uint")):
        return int(value) if type_.name == "int" else GoInt(type_, int(value))  # type: ignore[call-overload]
    raise FunctionError(f"value has type {actual}; should be {type_}")
