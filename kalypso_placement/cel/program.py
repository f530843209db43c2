"""Compile a checked expression to a function that evaluates it as cel-go does, with its cost.

The checker serializes it as `cel.expr.CheckedExpr`. Field numbers:
https://github.com/google/cel-spec/blob/master/proto/cel/expr/syntax.proto and checked.proto. This
module reads only the fields that an evaluator needs, and therefore needs no protobuf package.

`&&`, `||` and the macros that expand to them ignore an error on one side if the other decides.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kalypso_placement.cel.limits import LIST, MAP, Meter, call_cost, checked
from kalypso_placement.cel.operators import index, iterate, no_overload
from kalypso_placement.cel.values import (
    NONE,
    EvaluationError,
    Function,
    Optional,
    TypeName,
    UInt,
    Value,
    key_of,
    some,
)

Variables = Mapping[str, Value]
Step = Callable[[Variables, Meter], Value]
Fields = dict[int, list[Any]]
"""The values of a message's fields by number: whole numbers and bytes."""

_PRIMITIVE, _LIST = 3, 6
"""Fields of the message `Type`."""


class ExpressionError(Exception):
    """A CEL expression does not compile; the message is the compiler's."""


class UnsupportedError(Exception):
    """This package cannot evaluate a part of the expression."""


def compile_expression(message: bytes, functions: Mapping[str, Function]) -> Step:
    """Return the function of a checked expression, an `Any` message.

    Raises ExpressionError for a fault that the checker does not see, and UnsupportedError.
    """
    checked_expression = _fields(_fields(message)[2][0])
    references, types = {}, {}
    for entry in map(_fields, checked_expression.get(2, [])):
        reference = _fields(entry[2][0]) if 2 in entry else {}
        references[entry.get(1, [0])[0]] = _text(reference, 1)
    for entry in map(_fields, checked_expression.get(3, [])):
        types[entry.get(1, [0])[0]] = entry.get(2, [b""])[0]
    compiler = _Compiler(functions, references, types)
    step = compiler.step(checked_expression[4][0])
    if compiler.mismatched:
        raise ExpressionError(f"no matching overload for {compiler.mismatched[0]!r}")
    if compiler.unsupported:
        raise UnsupportedError(compiler.unsupported[0])
    return step


class _Compiler:
    """Compiles the messages `Expr`; collects calls with types that the checker cannot compare."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        references: Mapping[int, str],
        types: Mapping[int, bytes],
    ) -> None:
        self._functions = functions
        self._references = references
        self._types = types
        self.mismatched: list[str] = []
        self.unsupported: list[str] = []

    def step(self, message: bytes) -> Step:  # noqa: PLR0911 - one for each kind
        """Return the function of an expression."""
        fields = _fields(message)
        reference = self._references.get(fields.get(2, [0])[0])
        kind = next((kind for kind in range(3, 10) if kind in fields), 0)
        part = _fields(fields[kind][0]) if kind else {}
        match kind:
            case 3:
                return _const(part)
            case 4:
                return _ident(reference or _text(part, 1))
            case 5:  # with a reference, it is a qualified name, such as the name of a type
                return _ident(reference) if reference else self._select(part)
            case 6:
                return self._call(part)
            case 7:
                return self._list(part)
            case 8:
                return self._map(part)
            case 9:
                return self._loop(part)
        return _constant(None)

    def _select(self, part: Fields) -> Step:
        operand, name = self.step(part[1][0]), _text(part, 2)
        if part.get(3, [0])[0]:
            return lambda variables, meter: _has(operand(variables, meter), name, meter)

        def select(variables: Variables, meter: Meter) -> Value:
            value = operand(variables, meter)
            meter.cost += 1
            if isinstance(value, dict):
                try:
                    return value[name]
                except KeyError:
                    raise EvaluationError(f"no such key: {name}") from None
            if isinstance(value, Optional):
                return _optional_index(value, name)
            raise no_overload()

        return select

    def _call(self, part: Fields) -> Step:  # noqa: PLR0911 - one for each operator
        name = _text(part, 2)
        if name in {"indexOf", "lastIndexOf"} and 1 in part and 3 in part:
            self._compare(name, part[1][0], part[3][0])
        steps = [self.step(operand) for operand in (*part.get(1, []), *part.get(3, []))]
        match name:
            case "_&&_":
                return _logic(steps, decides=False)
            case "_||_":
                return _logic(steps, decides=True)
            case "_?_:_":
                return _ternary(*steps)
            case "@not_strictly_false" | "__not_strictly_false__":
                return _not_strictly_false(steps[0])
            case "_?._" | "_[?_]":
                return _optional_step(*steps)
            case "or":
                return _optional_or(*steps, unwrap=False)
            case "orValue":
                return _optional_or(*steps, unwrap=True)
        function = self._functions.get(name)
        if function is None:
            self.unsupported.append(f"the function {name}")
            return _constant(None)
        return _strict(name, function, steps)

    def _compare(self, name: str, target: bytes, argument: bytes) -> None:
        """Record a search for a value of another type than the list's; the checker accepts it."""
        types = [self._types.get(_fields(item).get(2, [0])[0], b"") for item in (target, argument)]
        listed = _fields(types[0]).get(_LIST)
        if listed is None:
            return
        element = _fields(listed[0]).get(1, [b""])[0]
        known = all(_fields(item).keys() == {_PRIMITIVE} for item in (element, types[1]))
        if known and element != types[1]:
            self.mismatched.append(name)

    def _list(self, part: Fields) -> Step:
        optional = frozenset(_numbers(part.get(2, [])))
        steps = [(self.step(item), at in optional) for at, item in enumerate(part.get(1, []))]

        def create(variables: Variables, meter: Meter) -> Value:
            meter.add(LIST)
            items = []
            for step, is_optional in steps:
                value = step(variables, meter)
                if not is_optional:
                    items.append(value)
                elif _as_optional(value).present:
                    items.append(value.content)
            return checked(items)

        return create

    def _map(self, part: Fields) -> Step:
        if _text(part, 1):
            self.unsupported.append(f"the message {_text(part, 1)}")
        steps = [self._entry(_fields(entry)) for entry in part.get(2, [])]

        def create(variables: Variables, meter: Meter) -> Value:
            meter.add(MAP)
            entries: dict[Any, Value] = {}
            for key_step, value_step, is_optional in steps:
                key = key_of(key_step(variables, meter))
                value = value_step(variables, meter)
                if is_optional and not _as_optional(value).present:
                    continue
                if key in entries:
                    raise EvaluationError(f"duplicate key: {key}")
                entries[key] = value.content if is_optional else value
            return checked(entries)

        return create

    def _entry(self, part: Fields) -> tuple[Step, Step, bool]:
        key = _constant(_text(part, 2)) if 2 in part else self.step(part[3][0])
        return key, self.step(part[4][0]), bool(part.get(5, [0])[0])

    def _loop(self, part: Fields) -> Step:
        """Compile a comprehension, to which all macros over lists and maps expand."""
        iter_range, init, condition, step, result = (
            self.step(part[number][0]) for number in (2, 4, 5, 6, 7)
        )
        item, accu = _text(part, 1), _text(part, 3)

        def loop(variables: Variables, meter: Meter) -> Value:
            elements = iterate(iter_range(variables, meter))
            scope = dict(variables)
            scope[accu] = _settled(init, variables, meter)
            for element in elements:
                scope[item] = element
                meter.add(0)
                if condition(scope, meter) is not True:
                    break
                scope[accu] = _settled(step, scope, meter)
            scope = {**variables, accu: scope[accu]}
            return result(scope, meter)

        return loop


def _settled(step: Step, variables: Variables, meter: Meter) -> Value:
    """Evaluate; return an error as a value, which a later step may ignore."""
    try:
        return step(variables, meter)
    except EvaluationError as error:
        return error


def _const(part: Fields) -> Step:
    kind, values = next(iter(part.items()))
    value = values[0]
    match kind:
        case 1:
            value = None
        case 2:
            value = bool(value)
        case 3:
            value = value - 2**64 if value >= 2**63 else value
        case 4:
            value = UInt(value)
        case 5:
            value = struct.unpack("<d", value)[0]
        case 6:
            value = value.decode("utf-8")
    return _constant(value)


def _constant(value: Value) -> Step:
    return lambda _variables, _meter: value


def _ident(name: str) -> Step:
    is_type = TypeName(name)

    def ident(variables: Variables, meter: Meter) -> Value:
        meter.cost += 1
        value = variables.get(name, is_type)
        if isinstance(value, EvaluationError):
            raise value
        return value

    return ident


def _has(value: Value, name: str, meter: Meter) -> bool:
    meter.cost += 1
    if isinstance(value, Optional):
        return value.present and _has(value.content, name, meter)
    if isinstance(value, dict):
        return name in value
    raise no_overload()


def _logic(steps: list[Step], *, decides: bool) -> Step:
    """Return `||` if True decides, `&&` if False does; an error counts only if no side decides."""

    def logic(variables: Variables, meter: Meter) -> Value:
        error: EvaluationError | None = None
        for step in steps:
            try:
                value = step(variables, meter)
            except EvaluationError as failure:
                error = error or failure
                continue
            if value is decides:
                return decides
            if type(value) is not bool:
                error = error or no_overload()
        if error is not None:
            raise error
        return not decides

    return logic


def _ternary(condition: Step, then: Step, otherwise: Step) -> Step:
    def ternary(variables: Variables, meter: Meter) -> Value:
        chosen = condition(variables, meter)
        if type(chosen) is not bool:
            raise no_overload()
        return (then if chosen else otherwise)(variables, meter)

    return ternary


def _not_strictly_false(step: Step) -> Step:
    def not_strictly_false(variables: Variables, meter: Meter) -> bool:
        meter.cost += 1
        try:
            return step(variables, meter) is not False
        except EvaluationError:
            return True

    return not_strictly_false


def _as_optional(value: Value) -> Optional:
    if not isinstance(value, Optional):
        raise no_overload()
    return value


def _optional_index(value: Value, key: Value) -> Optional:
    if isinstance(value, Optional):
        return _optional_index(value.content, key) if value.present else NONE
    if isinstance(value, dict):
        item = key_of(key)
        return some(value[item]) if item in value else NONE
    if isinstance(value, list):
        is_inside = isinstance(key, int | float) and 0 <= key < len(value)
        return some(index(value, key)) if is_inside else NONE
    raise no_overload()


def _optional_step(operand: Step, key: Step) -> Step:
    def step(variables: Variables, meter: Meter) -> Value:
        meter.cost += 1
        return _optional_index(operand(variables, meter), key(variables, meter))

    return step


def _optional_or(first: Step, second: Step, *, unwrap: bool) -> Step:
    def step(variables: Variables, meter: Meter) -> Value:
        meter.add(1)
        value = _as_optional(first(variables, meter))
        if value.present:
            return value.content if unwrap else value
        return second(variables, meter)

    return step


def _strict(name: str, function: Function, steps: list[Step]) -> Step:
    is_index = name == "_[_]"
    reads = name != "_+_"  # map() adds each element to the list so far

    def call(variables: Variables, meter: Meter) -> Value:
        args = [step(variables, meter) for step in steps]
        if is_index:
            meter.cost += 1
            if isinstance(args[0], Optional):
                return _optional_index(args[0], args[1])
            return function(*args)
        meter.add(call_cost(name, args))
        if reads:
            meter.read(args)
        try:
            return checked(function(*args))
        except TypeError as error:
            raise no_overload() from error

    return call


def _fields(message: bytes) -> Fields:
    """Return the values of a message's fields by number: whole numbers and bytes."""
    fields: Fields = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                value, at = _varint(message, at)
                fields.setdefault(tag >> 3, []).append(value)
            case 1:
                fields.setdefault(tag >> 3, []).append(message[at : at + 8])
                at += 8
            case 2:
                length, at = _varint(message, at)
                fields.setdefault(tag >> 3, []).append(message[at : at + length])
                at += length
            case _:
                at += 4
    return fields


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _numbers(values: list[Any]) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            yield number


def _text(fields: Fields, number: int) -> str:
    value = fields.get(number, [b""])[0]
    assert isinstance(value, bytes)  # noqa: S101 - the field is a string of the message
    return value.decode("utf-8")
