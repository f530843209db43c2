"""The cost of an expression at run time, in the units of cel-go and Kubernetes.

https://github.com/google/cel-go/blob/master/interpreter/runtimecost.go, and the estimator of
Kubernetes' libraries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from kalypso_placement.cel.sizes import MAX_WORK, TooLargeError, size_of
from kalypso_placement.cel.values import Value, cost_size

LIMIT: Final = 1_000_000
"""The limit for one expression and one cluster."""
BUDGET: Final = 10_000_000
"""The limit for all expressions of a predicate and one cluster."""
FLEET_BUDGET: Final = 100_000_000
"""The limit for all different expressions and all clusters: minutes of processor time."""
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
