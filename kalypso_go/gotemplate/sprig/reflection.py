"""Functions on values of any type: emptiness, types, equality, copies; and flow control.

Equality is Go's `reflect.DeepEqual`, and copies are those of mitchellh/copystructure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import check_depth, kind_of
from kalypso_go.gotemplate.sprig.semver import Version, VersionStruct, VersionValue
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import (
    ANY,
    BOOL,
    STRING,
    Function,
    FunctionError,
    GoMap,
    GoSlice,
    GoStruct,
    type_of,
)


@function("typeOf", ANY, returns=STRING)
def type_of_(value: object) -> str:
    """Return the type as `printf "%T"` prints it."""
    go_type = type_of(value)
    return "<nil>" if go_type is None else go_type.name


@function("typeIs", STRING, ANY, returns=BOOL)
def type_is(name: str, value: object) -> bool:
    """Return whether the type has this name."""
    return type_of_(value) == name


@function("typeIsLike", STRING, ANY, returns=BOOL)
def type_is_like(name: str, value: object) -> bool:
    """Return whether the type, or the target of a pointer, has this name."""
    return type_of_(value) in (name, f"*{name}")


function("kindOf", ANY, returns=STRING)(kind_of)


@function("kindIs", STRING, ANY, returns=BOOL)
def kind_is(name: str, value: object) -> bool:
    """Return whether the kind has this name."""
    return kind_of(value) == name


_EMPTY_IF_FALSE = (str, int, float, complex, list, dict)


@function("empty", ANY, returns=BOOL)
def is_empty(value: object) -> bool:
    """Return whether a value is nil, false, zero, or an empty text, list or map."""
    return value is None or (isinstance(value, _EMPTY_IF_FALSE) and not value)


@function("default", ANY, ANY, variadic=True)
def default(instead: object, *given: object) -> object:
    """Return the second argument, or `instead` if that is empty or absent."""
    return given[0] if given and not is_empty(given[0]) else instead


@function("coalesce", ANY, variadic=True)
def coalesce(*values: object) -> object:
    """Return the first value that is not empty, or nil."""
    return next((value for value in values if not is_empty(value)), None)


@function("ternary", ANY, ANY, BOOL)
def ternary(if_true: object, if_false: object, condition: bool) -> object:
    """Return one of two values."""
    return if_true if condition else if_false


@function("fail", STRING, returns=STRING)
def fail(message: str) -> str:
    """Fail with the message as the error."""
    raise FunctionError(message)


_COMPARISON = 16
"""The work of comparing two elements, in characters."""


@function("deepEqual", ANY, ANY, returns=BOOL, takes_budget=True)
def deep_equal(budget: Budget, first: object, second: object) -> bool:
    """Return whether type and content are equal; nil differs from an empty map or list."""
    return _Comparison(budget).equal(first, second, 0)


class _Comparison:
    """Compares two values; visits each pair of their parts once."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.seen: set[tuple[int, int]] = set()

    def equal(self, first: object, second: object, depth: int) -> bool:
        check_depth(depth, "deepEqual")
        if type_of(first) != type_of(second):
            return False
        if first is None or isinstance(first, str | int | float):
            return first == second
        pair = (id(first), id(second))
        if first is second or pair in self.seen:
            return not isinstance(first, Function)
        self.seen.add(pair)
        if getattr(first, "nil", False) != getattr(second, "nil", False):
            return False
        return self._equal_parts(first, second, depth + 1)

    def _equal_parts(self, first: object, second: object, depth: int) -> bool:
        if isinstance(first, GoStruct) and isinstance(second, GoStruct) and first.fields:
            first, second = first.fields, second.fields
        if isinstance(first, dict) and isinstance(second, dict):
            self.budget.spend(_COMPARISON * (len(first) + 1), "deepEqual")
            return len(first) == len(second) and all(
                key in second and self.equal(value, second[key], depth)
                for key, value in first.items()
            )
        if isinstance(first, list) and isinstance(second, list):
            self.budget.spend(_COMPARISON * (len(first) + 1), "deepEqual")
            return len(first) == len(second) and all(
                self.equal(a, b, depth) for a, b in zip(first, second, strict=True)
            )
        if isinstance(first, VersionValue) and isinstance(second, VersionValue):
            return first.version == second.version
        return first == second


class Collection:
    """Values of any type, compared by `deep_equal`."""

    def __init__(self, budget: Budget, values: Sequence[object] = ()) -> None:
        self._budget = budget
        self._simple: set[tuple[str, object]] = set()
        self._others: list[object] = []
        budget.spend(_COMPARISON * len(values), "the search")
        for value in values:
            self.add(value)

    def add(self, value: object) -> None:
        """Add a value."""
        key = _simple_key(value)
        if key is None:
            self._others.append(value)
        else:
            self._simple.add(key)

    def __contains__(self, value: object) -> bool:
        key = _simple_key(value)
        if key is not None:
            return key in self._simple
        self._budget.spend(_COMPARISON * len(self._others), "the search")
        return any(deep_equal(self._budget, value, other) for other in self._others)


def _simple_key(value: object) -> tuple[str, object] | None:
    """Return a hashable key for a scalar; None for NaN and for values with parts."""
    go_type = type_of(value)
    if isinstance(value, str | int) or (isinstance(value, float) and not math.isnan(value)):
        return ("" if go_type is None else go_type.name, value)
    return ("", None) if value is None else None


_COPY = 64
"""The approximate size of an element of a list or map, in bytes."""


@function("deepCopy", ANY, takes_budget=True)
def deep_copy(budget: Budget, value: object) -> object:
    """Return a copy that shares no map or list with the original."""
    if value is None:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    return _Copier(budget).copy(value, 0)


class _Copier:
    """Copies one value; an element that occurs several times is copied each time."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.size = 0

    def copy(self, value: object, depth: int) -> object:
        check_depth(depth, "deepCopy")
        if isinstance(value, list):
            return self._list(value, depth + 1)
        if isinstance(value, dict):
            return self._map(value, depth + 1)
        if isinstance(value, VersionValue | VersionStruct):
            # copystructure copies only exported fields, and a version has none.
            return type(value)(Version())
        if isinstance(value, GoStruct) and value.fields:
            fields = {name: self.copy(field, depth + 1) for name, field in value.fields.items()}
            return GoStruct(value.type, fields, value.methods, pointer=value.pointer)
        return value

    def _list(self, value: list[object], depth: int) -> list[object]:
        self._grow(len(value))
        elements = [self.copy(element, depth) for element in value]
        if isinstance(value, GoSlice):
            return GoSlice(value.type, elements, nil=value.nil)
        return elements

    def _map(self, value: dict[object, object], depth: int) -> dict[object, object]:
        self._grow(len(value))
        items = {key: self.copy(element, depth) for key, element in value.items()}
        return GoMap(value.type, items, nil=value.nil) if isinstance(value, GoMap) else items

    def _grow(self, elements: int) -> None:
        self.size += _COPY * (elements + 1)
        self.budget.fit(self.size, "the copy")
        self.budget.spend(_COPY * (elements + 1), "deepCopy")
