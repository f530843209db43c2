"""Go's `reflect.DeepEqual`: equal types and contents at every level."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.nesting import check_depth
from kalypso_go.gotemplate.sprig.semver import VersionValue
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import ANY, BOOL, Function, GoStruct, type_of

_ELEMENT = 16
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
            self.budget.spend(_ELEMENT * (len(first) + 1), "deepEqual")
            return len(first) == len(second) and all(
                key in second and self.equal(value, second[key], depth)
                for key, value in first.items()
            )
        if isinstance(first, list) and isinstance(second, list):
            self.budget.spend(_ELEMENT * (len(first) + 1), "deepEqual")
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
        budget.spend(_ELEMENT * len(values), "the search")
        for value in values:
            self.add(value)

    def add(self, value: object) -> None:
        """Add a value."""
        key = _key(value)
        if key is None:
            self._others.append(value)
        else:
            self._simple.add(key)

    def __contains__(self, value: object) -> bool:
        key = _key(value)
        if key is not None:
            return key in self._simple
        self._budget.spend(_ELEMENT * len(self._others), "the search")
        return any(deep_equal(self._budget, value, other) for other in self._others)


def _key(value: object) -> tuple[str, object] | None:
    """Return a hashable key for a scalar; None for NaN and for values with parts."""
    go_type = type_of(value)
    if isinstance(value, str | int) or (isinstance(value, float) and not math.isnan(value)):
        return ("" if go_type is None else go_type.name, value)
    return ("", None) if value is None else None
