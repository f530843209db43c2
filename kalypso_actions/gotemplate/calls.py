"""Calls of functions and methods: check and convert arguments, report errors like Go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from kalypso_actions.gotemplate.builtins import AND, CALL, OR
from kalypso_actions.gotemplate.conversion import Argument, Bound, Check, bind, checked
from kalypso_actions.gotemplate.execution import Definition, Evaluate, State
from kalypso_actions.gotemplate.function_values import call_value
from kalypso_actions.gotemplate.nodes import Command, Node
from kalypso_actions.gotemplate.values import (
    NO_VALUE,
    Function,
    FunctionError,
    GoMap,
    GoSlice,
    Type,
    type_of,
)


class _NoFinal:
    """Marks a call without an argument from a pipe."""


NO_FINAL: Final = _NoFinal()

_SIZED: Final = frozenset({str, list, dict, GoSlice, GoMap})
_SMALL: Final = 256
"""Calls on longer values always count."""


def _is_large(value: Any) -> bool:
    return type(value) in _SIZED and len(value) > _SMALL


def _has_large(values: Sequence[Any]) -> bool:
    # A call of _is_large for each value would double the time of this frequent test.
    for value in values:  # noqa: SIM110
        if type(value) in _SIZED and len(value) > _SMALL:
            return True
    return False


class Call:
    """A call at one place in the template.

    Errors of the function name `node`; errors before any argument is evaluated name `last`. `piped`
    means that the last argument comes from a pipe.
    """

    def __init__(
        self,
        definition: Definition,
        function: Function,
        arguments: Sequence[Argument],
        *,
        node: Node,
        last: Node | None,
        piped: bool,
    ) -> None:
        self.definition = definition
        self.function = function
        self.arguments = arguments
        self.node = node
        self.before = last
        self.piped = piped
        self.bounds: list[Bound] = []

    @property
    def last(self) -> Node | None:
        """The node that errors name after all arguments are evaluated."""
        return self.bounds[-1].last if self.bounds else self.before

    def compile(self) -> Evaluate:
        """Compile the call; the result takes the pipe's value as its third argument."""
        wrong = self._wrong_number() or self.function.unusable
        if wrong:
            return self._failing(wrong)
        types = self._types()
        self.bounds = [
            bind(self.definition, argument, type_)
            for argument, type_ in zip(self.arguments, types, strict=False)
        ]
        if self.function is AND or self.function is OR:
            return self._short_circuit(until=self.function is OR)
        final = checked(self.definition, self.last, types[-1]) if self.piped else None
        if self.function is CALL:
            return self._value_call(final)
        return self._ordinary(final, self.function)

    def _wrong_number(self) -> str:
        function, given = self.function, len(self.arguments)
        wanted = len(function.parameters)
        if function.variadic:
            least = wanted - 1
            if given + self.piped < least:
                return (
                    f"wrong number of args for {function.name}: want at least {least} got {given}"
                )
        elif given + self.piped != wanted:
            got = given + self.piped
            return f"wrong number of args for {function.name}: want {wanted} got {got}"
        return ""

    def _failing(self, detail: str) -> Evaluate:
        def fail(state: State, _: object, __: object = NO_FINAL) -> object:
            raise self.definition.late_error(state, self.before, detail)

        return fail

    def _types(self) -> list[Type]:
        """Return the type of each argument, including the pipe's."""
        parameters = self.function.parameters
        count = len(self.arguments) + self.piped
        if not self.function.variadic:
            return list(parameters)
        fixed = parameters[:-1][:count]
        return [*fixed, *[parameters[-1]] * (count - len(fixed))]

    def _failed(self, error: FunctionError) -> Exception:
        return self.definition.error(self.node, f"error calling {self.function.name}: {error}")

    def _short_circuit(self, *, until: bool) -> Evaluate:
        """Compile `and` or `or`, which evaluate arguments until one decides."""
        arguments = [(bound.evaluate, bound.last) for bound in self.bounds]

        def decide(state: State, dot: object, final: object = NO_FINAL) -> object:
            value: object = NO_VALUE
            for evaluate, last in arguments:
                value = evaluate(state, dot)
                if last is not None:
                    state.node = last
                if bool(value) is until:
                    return value
            return value if final is NO_FINAL else final

        return decide

    def _value_call(self, final: Check | None) -> Evaluate:
        """Compile `call`, whose errors name the function as the template writes it."""
        if isinstance(self.node, Command) and self.arguments:
            name = str(self.node.arguments[1])
            return self._ordinary(final, replace(CALL, call=partial(call_value, name)))

        def call(state: State, dot: object, value: object = NO_FINAL) -> object:
            name = value if isinstance(value, str) else f"<{type_of(value) or 'invalid'} Value>"
            ordinary = self._ordinary(final, replace(CALL, call=partial(call_value, name)))
            return ordinary(state, dot, value)

        return call

    def _piped(self, final: Check, function: Function) -> Evaluate:
        """Compile a call whose only argument comes from a pipe, such as `| quote`."""
        call, name, takes_budget = function.call, function.name, function.takes_budget
        accepts, convert = final
        cost = function.cost

        def piped(state: State, _: object, value: object = NO_FINAL) -> object:
            argument = value if type(value) in accepts else convert(state, value)
            budget = state.budget
            try:
                if budget.counts_calls or _is_large(argument):
                    budget.count_call(name, cost, (argument,))
                result = call(budget, argument) if takes_budget else call(argument)
                if budget.counts_calls or _is_large(result):
                    budget.count_result(name, result)
            except FunctionError as error:
                raise self._failed(error) from None
            return result

        return piped

    def _ordinary(self, final: Check | None, function: Function) -> Evaluate:
        """Compile a call that evaluates its arguments in order."""
        call, name, takes_budget = function.call, function.name, function.takes_budget
        cost = function.cost
        if final is not None and not self.bounds:
            return self._piped(final, function)
        constants: list[Any] = [*(bound.constant for bound in self.bounds), *([None] * self.piped)]
        computed = [
            (index, bound.evaluate, *bound.check)
            for index, bound in enumerate(self.bounds)
            if bound.constant is None
        ]

        def ordinary(state: State, dot: object, value: object = NO_FINAL) -> object:
            budget = state.budget
            values = [*constants]
            for index, evaluate, accepts, convert in computed:
                argument = evaluate(state, dot)
                if type(argument) not in accepts:
                    argument = convert(state, argument)
                values[index] = argument
            if final is not None:
                values[-1] = value if type(value) in final.accepts else final.convert(state, value)
            try:
                if budget.counts_calls or _has_large(values):
                    budget.count_call(name, cost, values)
                result = call(budget, *values) if takes_budget else call(*values)
                if budget.counts_calls or _is_large(result):
                    budget.count_result(name, result)
            except FunctionError as error:
                raise self._failed(error) from None
            return result

        return ordinary
