"""Compile calls of functions and methods: check and convert arguments, report errors like Go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import NoneType
from typing import Any, Final, NamedTuple

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.builtins import AND, CALL, OR
from kalypso_go.gotemplate.execution import Definition, Evaluate, Expression, State
from kalypso_go.gotemplate.nodes import Bool, Command, Nil, Node, Number, String
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
    FunctionError,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    NoValue,
    Results,
    Type,
    type_of,
    zero,
)

Constant = Bool | Nil | Number | String

Argument = Expression | Constant
"""An argument of a call: compiled, or a constant that takes the type of the parameter."""


def last_of(argument: Argument) -> Node | None:
    """Return the node that errors name once the argument has been evaluated."""
    return argument.last if isinstance(argument, Expression) else argument


_Convert = Callable[[State, object], object]


class _Check(NamedTuple):
    """The classes of values that a parameter accepts unchanged, and the conversion of others."""

    accepts: frozenset[type]
    convert: _Convert


@dataclass(frozen=True, slots=True)
class _Bound:
    """An argument bound to a parameter; `constant` is its value, if it is always the same."""

    evaluate: Evaluate
    check: _Check
    last: Node | None
    constant: object = None


class _NoFinal:
    """Marks a call without an argument from a pipe."""


NO_FINAL: Final = _NoFinal()

_SIZED: Final = frozenset({str, list, dict, GoSlice, GoMap})
_SMALL: Final = 256
"""Calls on longer values always count. Each kind of call writes this test out, because a function
for it would double the time of the test."""


def _has_large(values: Sequence[Any]) -> bool:
    return any(type(value) in _SIZED and len(value) > _SMALL for value in values)


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
        self.bounds: list[_Bound] = []

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
            _bind(self.definition, argument, type_)
            for argument, type_ in zip(self.arguments, types, strict=False)
        ]
        if self.function is AND or self.function is OR:
            return self._short_circuit(until=self.function is OR)
        final = _checked(self.definition, self.last, types[-1]) if self.piped else None
        if self.function is CALL:
            return self._value_call(final)
        ordinary = self._ordinary(final, self.function)
        return _decided(ordinary) if self.function.result is BOOL else ordinary

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

    def _value_call(self, final: _Check | None) -> Evaluate:
        """Compile `call`, whose errors name the function as the template writes it."""
        if isinstance(self.node, Command) and self.arguments:
            name = str(self.node.arguments[1])
            return self._ordinary(final, replace(CALL, call=partial(_call_value, name)))

        def call(state: State, dot: object, value: object = NO_FINAL) -> object:
            name = value if isinstance(value, str) else f"<{type_of(value) or 'invalid'} Value>"
            ordinary = self._ordinary(final, replace(CALL, call=partial(_call_value, name)))
            return ordinary(state, dot, value)

        return call

    def _ordinary(self, final: _Check | None, function: Function) -> Evaluate:
        """Compile a call that evaluates its arguments in order."""
        constants = [bound.constant for bound in self.bounds]
        own = [index for index, constant in enumerate(constants) if constant is None]
        if _has_large(constants):
            return self._of_many(final, function)
        if final is None and len(own) == 2 and own[0] == len(constants) - 2:
            return self._of_two(function, constants[:-2], *self.bounds[-2:])
        if len(own) + self.piped != 1:
            return self._of_many(final, function)
        if final is not None:
            return self._of_one(None, final, function, constants, [])
        (index,) = own
        bound, after = self.bounds[index], constants[index + 1 :]
        return self._of_one(bound.evaluate, bound.check, function, constants[:index], after)

    def _of_one(
        self,
        evaluate: Evaluate | None,
        check: _Check,
        function: Function,
        before: Sequence[Any],
        after: Sequence[Any],
    ) -> Evaluate:
        """Compile a call of one value with small constants around it, such as `| trunc 63`.

        The value comes from a pipe if there is no `evaluate`. If it is a map that nothing changes,
        the call is made once, and its work counts each time; near the limit, it is made again for
        its own error.
        """
        name, takes_budget, cost = function.name, function.takes_budget, function.cost
        accepts, convert = check
        call = _with_constants(function, before, after)

        def of_one(state: State, dot: object, value: Any = NO_FINAL) -> object:
            if evaluate is not None:
                value = evaluate(state, dot)
            if type(value) not in accepts:
                value = convert(state, value)
            budget = state.budget
            try:
                if budget.counts_calls or (type(value) in _SIZED and len(value) > _SMALL):
                    budget.count_call(name, cost, (*before, value, *after))
                result: Any
                if type(value) is GoMap and value.results is not None:
                    result = self._kept(value.results, budget, call, value)
                else:
                    result = call(budget, value) if takes_budget else call(value)
                if budget.counts_calls or (type(result) in _SIZED and len(result) > _SMALL):
                    budget.count_result(name, result)
            except FunctionError as error:
                raise self._failed(error) from None
            return result

        return of_one

    def _kept(
        self, results: Results, budget: Budget, call: Callable[..., object], value: GoMap
    ) -> object:
        """Call with a map that nothing changes, or return the text or map of an earlier call."""
        known = results.get(self)
        if known is not None and budget.work + known[1] <= budget.limits.work:
            budget.spend(known[1], self.function.name)
            return known[0]
        before = budget.work
        result = call(budget, value) if self.function.takes_budget else call(value)
        if type(result) is dict:
            result = GoMap(ANY_MAP, result)
            result.results = {}
        if isinstance(result, str | GoMap):
            results[self] = result, budget.work - before
        return result

    def _of_two(
        self, function: Function, before: Sequence[Any], first: _Bound, second: _Bound
    ) -> Evaluate:
        """Compile a call of two values after small constants, such as `index .Labels $name`."""
        call, name, takes_budget = function.call, function.name, function.takes_budget
        cost = function.cost
        evaluate_first, (accepts_first, convert_first) = first.evaluate, first.check
        evaluate_second, (accepts_second, convert_second) = second.evaluate, second.check
        if before and not takes_budget:
            call = partial(call, *before)

        def of_two(state: State, dot: object, _: object = NO_FINAL) -> object:
            one: Any = evaluate_first(state, dot)
            if type(one) not in accepts_first:
                one = convert_first(state, one)
            two: Any = evaluate_second(state, dot)
            if type(two) not in accepts_second:
                two = convert_second(state, two)
            budget = state.budget
            try:
                if (
                    budget.counts_calls
                    or (type(one) in _SIZED and len(one) > _SMALL)
                    or (type(two) in _SIZED and len(two) > _SMALL)
                ):
                    budget.count_call(name, cost, (*before, one, two))
                result: Any = call(budget, *before, one, two) if takes_budget else call(one, two)
                if budget.counts_calls or (type(result) in _SIZED and len(result) > _SMALL):
                    budget.count_result(name, result)
            except FunctionError as error:
                raise self._failed(error) from None
            return result

        return of_two

    def _of_many(self, final: _Check | None, function: Function) -> Evaluate:
        """Compile a call of any values."""
        call, name, takes_budget = function.call, function.name, function.takes_budget
        cost = function.cost
        constants: list[Any] = [*(bound.constant for bound in self.bounds), *([None] * self.piped)]
        has_large_constants = _has_large(constants)
        computed: list[tuple[int, Evaluate | None, frozenset[type], _Convert]] = [
            (index, bound.evaluate, *bound.check)
            for index, bound in enumerate(self.bounds)
            if bound.constant is None
        ]
        if final is not None:  # the value of the pipe, evaluated before
            computed.append((len(self.bounds), None, *final))

        def of_many(state: State, dot: object, value: Any = NO_FINAL) -> object:
            values, large = [*constants], has_large_constants
            for index, evaluate, accepts, convert in computed:
                argument: Any = value if evaluate is None else evaluate(state, dot)
                if type(argument) not in accepts:
                    argument = convert(state, argument)
                if type(argument) in _SIZED and len(argument) > _SMALL:
                    large = True
                values[index] = argument
            budget = state.budget
            try:
                if large or budget.counts_calls:
                    budget.count_call(name, cost, values)
                result: Any = call(budget, *values) if takes_budget else call(*values)
                if budget.counts_calls or (type(result) in _SIZED and len(result) > _SMALL):
                    budget.count_result(name, result)
            except FunctionError as error:
                raise self._failed(error) from None
            return result

        return of_many


def _decided(evaluate: Evaluate) -> Evaluate:
    """Return the evaluation of a condition, which an execution may record or follow."""

    def decided(state: State, dot: object, value: object = NO_FINAL) -> object:
        result = evaluate(state, dot, value)
        decisions = state.budget.decisions
        return result if decisions is None else decisions.decide(bool(result))

    return decided


def _with_constants(
    function: Function, before: Sequence[Any], after: Sequence[Any]
) -> Callable[..., object]:
    """Return a function of the value between the constants, after the budget if it takes one."""
    call = function.call
    if not before and not after:
        return call
    if function.takes_budget:
        return lambda budget, value: call(budget, *before, value, *after)
    return (lambda value: call(*before, value, *after)) if after else partial(call, *before)


_VALUES = frozenset(
    {
        *(NoneType, str, bool, int, float, complex, dict, list),
        *(GoInt, GoMap, GoSlice, GoStruct, Function),
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


def _bind(definition: Definition, argument: Argument, type_: Type) -> _Bound:
    """Bind an argument to a parameter of this type."""
    if isinstance(argument, Expression):
        check = _checked(definition, argument.last, type_)
        return _Bound(argument.evaluate, check, argument.last)
    check = _Check(_ACCEPTED[REFLECT_VALUE], _unchanged)
    try:
        value = _constant(argument, type_)
    except ValueError as error:
        return _Bound(definition.failing(argument, str(error)), check, argument)
    return _Bound(constantly(value), check, argument, value)


def constantly(value: object) -> Evaluate:
    """Return an evaluation that always gives the same value."""

    def evaluate(_: State, __: object) -> object:
        return value

    return evaluate


def _unchanged(_: State, value: object) -> object:
    return value


def _checked(definition: Definition, last: Node | None, type_: Type) -> _Check:
    """Return the check of values for a parameter's type; errors name `last`."""
    takes_all = type_ in {ANY, REFLECT_VALUE}

    def convert(state: State, value: object) -> object:
        if isinstance(value, GoMap | GoSlice) and value.type is type_:
            return value
        if value is NO_VALUE:
            if _can_be_nil(type_):
                return _nil(type_)
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

    return _Check(_ACCEPTED.get(type_, frozenset()), convert)


def _can_be_nil(type_: Type) -> bool:
    """Return whether `nil` may stand for a value of this type."""
    return type_.kind in _NILLABLE or type_ == REFLECT_VALUE


def _nil(type_: Type) -> object:
    """Return `nil` as a value of this type."""
    return NO_VALUE if type_ == REFLECT_VALUE else zero(type_)


def _constant(node: Constant, type_: Type) -> object:
    """Return a constant as a value of a parameter's type; raise ValueError with Go's text."""
    if isinstance(node, Nil):
        if _can_be_nil(type_):
            return _nil(type_)
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


def _call_value(name: str, function: object, *arguments: object) -> object:
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
        if not _can_be_nil(type_):
            raise FunctionError(f"value is nil; should be of type {type_}")
        return _nil(type_)
    actual = str(type_of(value))
    if type_.kind == "interface" or actual == type_.name:
        return value
    integers = isinstance(value, int) and not isinstance(value, bool)
    if integers and type_.kind.startswith(("int", "uint")):
        return int(value) if type_.name == "int" else GoInt(type_, int(value))  # type: ignore[call-overload]
    raise FunctionError(f"value has type {actual}; should be {type_}")
