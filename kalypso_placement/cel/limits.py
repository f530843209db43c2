"""The limits of an evaluation: its cost at run time, and the size of values.

The cost is in the units of cel-go and Kubernetes:
https://github.com/google/cel-go/blob/master/interpreter/runtimecost.go, and the estimator of
Kubernetes' libraries.

cel-go does not count memory: its lists share their parts, and the cost of some functions depends on
their arguments alone. So a short expression could need more memory than a machine has. Both limits
of size are far above the needs of an expression about a cluster. An expression that exceeds one
raises an error, and never decides about a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from kalypso_placement.cel.values import Optional, SizedList, SizedMap, Value, cost_size

LIMIT: Final = 1_000_000
"""The limit for one expression and one cluster."""
BUDGET: Final = 10_000_000
"""The limit for all expressions of a predicate and one cluster."""
FLEET_BUDGET: Final = 100_000_000
"""The limit for all different expressions and all clusters, beyond `USUAL` of each: minutes of
processor time."""
USUAL: Final = 100
"""The cost of an expression that nobody finds expensive; thousands of these for thousands of
cluster types are a large fleet."""
LIST: Final = 10
MAP: Final = 30

_TRAVERSAL: Final = 0.1
_REGEX: Final = 0.25
_ONE_STRING: Final = frozenset(
    {"startsWith", "endsWith", "bytes", "format", "strings.quote", "lowerAscii", "upperAscii",
     "substring", "trim", "charAt", "reverse", "url", "isURL", "ip", "isIP", "cidr", "isCIDR",
     "ip.isCanonical", "quantity", "isQuantity", "semver", "isSemver", "validate", "parseJSON"}
)  # fmt: skip
_TWO_STRINGS: Final = frozenset({"replace", "split", "join"})
_LISTS: Final = frozenset({"isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"})


MAX_SIZE: Final = 100_000
"""The parts of a value: elements, entries, and tens of characters."""
MAX_WORK: Final = 2_000_000
"""The parts of all arguments of one evaluation."""
MAX_PRECISION: Final = 1_000
"""The digits of a formatted number."""

_CHARACTERS: Final = 10


class CostLimitError(Exception):
    """The cost of the expression exceeds a limit: no match."""


class Meter:
    """Counts the cost of one evaluation, and the parts of all arguments."""

    __slots__ = ("cost", "limit", "parts")

    def __init__(self, limit: int = LIMIT) -> None:
        self.cost = 0
        self.limit = limit
        self.parts = 0

    def add(self, cost: int) -> None:
        """Count a cost. Raises CostLimitError above the limit."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostLimitError

    def read(self, args: Sequence[Value]) -> None:
        """Count the parts of arguments. Raises TooLargeError above the limit."""
        for value in args:
            self.parts += size_of(value)
        if self.parts > MAX_WORK:
            raise TooLargeError


def call_cost(function: str, args: Sequence[Value]) -> int:  # noqa: PLR0911 - one for each formula
    """Return the cost of a call without the cost of its arguments."""
    if function in _ONE_STRING:
        return _traversal(args[0]) if args else 1
    if function in {"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"}:
        return math.ceil(min(cost_size(args[0]), cost_size(args[1])) * _TRAVERSAL)
    if function == "_+_" and isinstance(args[0], str | bytes):
        return math.ceil((cost_size(args[0]) + cost_size(args[1])) * _TRAVERSAL)
    if function == "@in" and isinstance(args[1], list):
        return len(args[1])
    if function in {"matches", "find", "findAll"}:
        text = math.ceil((1.0 + cost_size(args[0])) * _TRAVERSAL)
        return text * math.ceil(cost_size(args[1]) * _REGEX)
    if function == "contains":
        return _traversal(args[0]) * _traversal(args[1])
    if function in _TWO_STRINGS:
        return sum(map(_traversal, args[:2]))
    if function in _LISTS:
        size = cost_size(args[0])
        return math.ceil(size * _TRAVERSAL) if isinstance(args[0], str) else max(size, 1)
    return 1


def _traversal(value: Value) -> int:
    return math.ceil(cost_size(value) * _TRAVERSAL)


class TooLargeError(Exception):
    """A value of the expression, or the work on its values, is larger than allowed."""


def size_of(value: Value) -> int:
    """Return the number of parts of a value."""
    if isinstance(value, SizedList | SizedMap):
        return value.parts
    if isinstance(value, str | bytes):
        return 1 + len(value) // _CHARACTERS
    if isinstance(value, list):
        return 1 + sum(map(size_of, value))
    if isinstance(value, dict):
        return 1 + sum(map(size_of, value.keys())) + sum(map(size_of, value.values()))
    return size_of(value.content) if isinstance(value, Optional) else 1


def checked(value: Value) -> Value:
    """Return a value that knows its size, at all levels. Raises TooLargeError."""
    if type(value) is list:
        return _with_parts(SizedList(map(checked, value)))
    if type(value) is dict:
        return _with_parts(SizedMap({key: checked(item) for key, item in value.items()}))
    if isinstance(value, str | bytes):
        check_length(len(value))
    return value


def joined(first: list[Value], second: list[Value]) -> SizedList:
    """Return two lists as one. Raises TooLargeError."""
    result = SizedList(first)
    result += second
    _limit(result, size_of(first) + size_of(second) - 1)
    return result


def check_length(characters: int) -> None:
    """Raise TooLargeError if a text of this length is too large."""
    if characters // _CHARACTERS >= MAX_SIZE:
        raise TooLargeError


def _with_parts(value: SizedList | SizedMap) -> Value:
    items = value if isinstance(value, list) else [*value.keys(), *value.values()]
    _limit(value, 1 + sum(map(size_of, items)))
    return value


def _limit(value: SizedList | SizedMap, parts: int) -> None:
    if parts > MAX_SIZE:
        raise TooLargeError
    value.parts = parts
