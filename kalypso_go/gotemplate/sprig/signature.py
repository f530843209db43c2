"""Decorators that declare functions and methods of templates with their Go signatures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from kalypso_go.gotemplate.values import ANY, Function, Type

_Call = TypeVar("_Call", bound=Callable[..., object])

DECLARED: dict[str, Function] = {}
"""All declared functions by name, complete after all modules of this package are imported."""


def function(
    *names_and_parameters: str | Type,
    variadic: bool = False,
    returns: Type = ANY,
    takes_budget: bool = False,
    cost: int = 1,
    changes_arguments: bool = False,
) -> Callable[[_Call], _Call]:
    """Declare the decorated function under one or more names, with the types of its parameters.

    `@function("append", "push", ANY, ANY, returns=ANY_SLICE)` reads as Go's
    `func(interface {}, interface {}) []interface {}` under two names. `variadic` repeats the last
    parameter, `takes_budget` puts the execution's `Budget` before the arguments; `cost` is the work
    for each character of the arguments.
    """
    names = [name for name in names_and_parameters if isinstance(name, str)]
    parameters = tuple(type_ for type_ in names_and_parameters if isinstance(type_, Type))

    def declare(call: _Call) -> _Call:
        for name in names:
            DECLARED[name] = Function(
                name,
                call,
                parameters,
                variadic,
                returns,
                takes_budget,
                cost=cost,
                changes_arguments=changes_arguments,
            )
        return call

    return declare


_METHOD_COST: Final = 16
"""The work of a method for each character of its arguments; `Format` may have a long layout."""


class Methods:
    """The methods of a Go type, declared as functions whose first argument is the receiver."""

    def __init__(self) -> None:
        self._declared: list[Function] = []

    def __call__(self, name: str, *parameters: Type, returns: Type) -> Callable[[_Call], _Call]:
        """Declare the decorated function as a method."""

        def declare(call: _Call) -> _Call:
            self.add(name, returns, call, *parameters)
            return call

        return declare

    def add(self, name: str, returns: Type, call: Callable[..., object], *parameters: Type) -> None:
        """Declare a method that returns `call` of the receiver and the arguments."""
        self._declared.append(Function(name, call, parameters, result=returns, cost=_METHOD_COST))

    def unusable(self, name: str, reason: str) -> None:
        """Declare a method that templates cannot call."""
        self._declared.append(Function(name, lambda _: None, unusable=reason))

    def of(self, receiver: object) -> dict[str, Function]:
        """Return the methods bound to a value."""
        return {
            method.name: Function(
                method.name,
                partial(method.call, receiver),
                method.parameters,
                result=method.result,
                unusable=method.unusable,
                cost=method.cost,
            )
            for method in self._declared
        }
