"""Declares functions and methods to templates: the Go signature stands above the Python code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kalypso_actions.gotemplate.values import ANY, Function, Type

_Call = TypeVar("_Call", bound=Callable[..., object])

DECLARED: dict[str, Function] = {}
"""Every declared function by name; complete once all modules of this package are imported."""


def function(
    *names_and_parameters: str | Type,
    variadic: bool = False,
    returns: Type = ANY,
    bounded: bool = False,
) -> Callable[[_Call], _Call]:
    """Declare the decorated function under one or more names, followed by its parameters' types.

    `@function("append", "push", ANY, ANY, returns=ANY_SLICE)` reads as Go's
    `func(interface {}, interface {}) []interface {}` under two names. `variadic` repeats the last
    parameter, `bounded` puts the execution's `Budget` before the arguments.
    """
    names = [name for name in names_and_parameters if isinstance(name, str)]
    parameters = tuple(type_ for type_ in names_and_parameters if isinstance(type_, Type))

    def declare(call: _Call) -> _Call:
        for name in names:
            DECLARED[name] = Function(name, call, parameters, variadic, returns, bounded)
        return call

    return declare


class Methods:
    """The methods of a Go type, declared as functions that take the receiver first."""

    def __init__(self) -> None:
        self._declared: list[Function] = []

    def __call__(self, name: str, *parameters: Type, returns: Type) -> Callable[[_Call], _Call]:
        """Declare the decorated function as the method `name`."""

        def declare(call: _Call) -> _Call:
            self._declared.append(Function(name, call, parameters, result=returns))
            return call

        return declare

    def unusable(self, name: str, reason: str) -> None:
        """Declare a method that templates cannot call."""
        self._declared.append(Function(name, lambda _: None, unusable=reason))

    def of(self, receiver: object) -> dict[str, Function]:
        """The methods of one value, which know it already."""
        return {
            method.name: Function(
                method.name,
                partial(method.call, receiver),
                method.parameters,
                result=method.result,
                unusable=method.unusable,
            )
            for method in self._declared
        }
