"""Kubernetes' CEL library of lists, and the functions of optional values."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from kalypso_placement.cel.operators import STANDARD
from kalypso_placement.cel.signatures import Implementation, constant
from kalypso_placement.cel.values import (
    NONE,
    EvaluationError,
    Optional,
    Value,
    compare,
    equal,
    some,
)

_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED = {
    "int": 0,
    "uint": STANDARD["uint"](0),
    "double": 0.0,
    "duration": STANDARD["duration"](0),
}


def _extreme(sign: int) -> Implementation:
    def extreme(items: list[Value]) -> Value:
        if not items:
            raise EvaluationError("min or max called on empty list")
        best = items[0]
        for item in items[1:]:
            if compare(item, best) * sign > 0:
                best = item
        return best

    return extreme


def _is_sorted(items: list[Value]) -> bool:
    return all(compare(items[i], items[i + 1]) <= 0 for i in range(len(items) - 1))


def _total(zero: Value) -> Implementation:
    add = STANDARD["_+_"]
    return lambda items: functools.reduce(add, items) if items else zero


def _position(items: list[Value], wanted: Value) -> int:
    return next((i for i, item in enumerate(items) if equal(item, wanted)), -1)


def _last_position(items: list[Value], wanted: Value) -> int:
    return next((i for i in range(len(items) - 1, -1, -1) if equal(items[i], wanted)), -1)


def _unwrap(items: list[Optional]) -> list[Value]:
    return [item.content for item in items if item.present]


def _first(items: list[Value]) -> Optional:
    return some(items[0]) if items else NONE


def _last(items: list[Value]) -> Optional:
    return some(items[-1]) if items else NONE


def _zero(value: Value) -> bool:
    return not value or getattr(value, "nanos", 1) == 0


OPTIONALS: Final[Mapping[str, Implementation]] = {
    "optional.of(dyn) -> dyn": some,
    "optional.none() -> dyn": constant(NONE),
    "optional.ofNonZeroValue(dyn) -> dyn": lambda value: NONE if _zero(value) else some(value),
    "optional_type<dyn>:value() -> dyn": Optional.value,
    "optional_type<dyn>:hasValue() -> bool": lambda optional: optional.present,
    "list<dyn>:first() -> dyn": _first,
    "list<dyn>:last() -> dyn": _last,
}
"""The functions of optional values; the checker declares them in an extension of its own."""

LISTS: Final[Mapping[str, Implementation]] = {
    "optional.unwrap(list<optional_type<dyn>>) -> list<dyn>": _unwrap,
    "list<optional_type<dyn>>:unwrapOpt() -> list<dyn>": _unwrap,
    **{f"list<{kind}>:isSorted() -> bool": _is_sorted for kind in _ORDERED},
    **{f"list<{kind}>:min() -> {kind}": _extreme(-1) for kind in _ORDERED},
    **{f"list<{kind}>:max() -> {kind}": _extreme(1) for kind in _ORDERED},
    **{f"list<{kind}>:sum() -> {kind}": _total(zero) for kind, zero in _SUMMED.items()},
    "list<dyn>:indexOf(dyn) -> int": _position,
    "list<dyn>:lastIndexOf(dyn) -> int": _last_position,
}
