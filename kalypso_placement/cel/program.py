"""Compile a checked expression to a function that evaluates it as cel-go does, with its cost.

`&&`, `||` and the macros that expand to them ignore an error on one side if the other decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kalypso_placement.cel.checked import (
    Call,
    Comprehension,
    Const,
    CreateList,
    CreateStruct,
    Ident,
    Node,
    Select,
)
from kalypso_placement.cel.costs import LIST, MAP, Meter, call_cost
from kalypso_placement.cel.operators import (
    Function,
    index,
    iterate,
    no_overload,
)
from kalypso_placement.cel.sizes import checked
from kalypso_placement.cel.values import (
    NONE,
    EvaluationError,
    Optional,
    TypeName,
    UInt,
    Value,
    key_of,
    some,
)

Variables = Mapping[str, Value]
Step = Callable[[Variables, Meter], Value]


class UnsupportedError(Exception):
    """This package cannot evaluate a part of the expression."""


def compile_node(node: Node, functions: Mapping[str, Function]) -> Step:
    """Return the function of a node. Raises UnsupportedError."""
    return _Compiler(functions).step(node)


class _Compiler:
    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions

    def step(self, node: Node) -> Step:  # noqa: PLR0911 - one for each kind
        """Return the function of a node."""
        if isinstance(node, Const):
            return _const(node)
        if isinstance(node, Ident):
            return _ident(node.name)
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, CreateList):
            return self._list(node)
        if isinstance(node, CreateStruct):
            return self._map(node)
        return self._loop(node)

    def _select(self, node: Select) -> Step:
        operand, name = self.step(node.operand), node.field
        if node.test_only:
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

    def _call(self, node: Call) -> Step:  # noqa: PLR0911 - one for each operator
        parts = ((node.target,) if node.target is not None else ()) + node.args
        steps = [self.step(part) for part in parts]
        match node.function:
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
        function = self._functions.get(node.function)
        if function is None:
            raise UnsupportedError(f"the function {node.function}")
        return _strict(node.function, function, steps)

    def _list(self, node: CreateList) -> Step:
        steps = [(self.step(e), i in node.optional) for i, e in enumerate(node.elements)]

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

    def _map(self, node: CreateStruct) -> Step:
        if node.name:
            raise UnsupportedError(f"the message {node.name}")
        steps = [(self.step(key), self.step(value), opt) for key, value, opt in node.entries]

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

    def _loop(self, node: Comprehension) -> Step:
        parts = (node.iter_range, node.accu_init, node.condition, node.step, node.result)
        iter_range, init, condition, step, result = (self.step(part) for part in parts)
        accu, item = node.accu_var, node.iter_var

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


def _const(node: Const) -> Step:
    value = UInt(node.value) if node.kind == 4 else node.value
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
