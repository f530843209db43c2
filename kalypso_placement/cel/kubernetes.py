"""Kubernetes' CEL libraries: quantities and versions, and all tables together.

https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from kalypso_placement.cel.addresses import ADDRESSES, CelCIDR, CelIP, CelURL
from kalypso_placement.cel.formats import FORMAT_FUNCTIONS, CelFormat
from kalypso_placement.cel.lists import LISTS
from kalypso_placement.cel.signatures import Implementation, is_valid
from kalypso_placement.cel.values import INT, EvaluationError
from kalypso_placement.quantities import Quantity, parse_quantity

_SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?\Z",
    re.ASCII,
)


@dataclass(frozen=True, eq=False, slots=True)
class CelQuantity:
    """A quantity; equal by value."""

    cel_type: ClassVar[str] = "kubernetes.Quantity"
    quantity: Quantity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelQuantity) and self.quantity.value == other.quantity.value

    def __hash__(self) -> int:
        return hash(self.quantity.value)


@functools.total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class CelSemver:
    """A version; the order ignores its build."""

    cel_type: ClassVar[str] = "kubernetes.Semver"
    numbers: tuple[int, int, int]
    pre: tuple[str, ...]

    @property
    def _key(self) -> tuple[object, ...]:
        parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.pre)
        return (self.numbers, not self.pre, parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelSemver) and self._key == other._key

    def __lt__(self, other: CelSemver) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)


OPAQUE: Final[Mapping[str, type]] = {
    kind.cel_type: kind for kind in (CelURL, CelQuantity, CelSemver, CelIP, CelCIDR, CelFormat)
}


def _quantity(text: str) -> CelQuantity:
    quantity = parse_quantity(text)
    if quantity is None:
        raise EvaluationError("not a quantity")
    return CelQuantity(quantity)


def _integer(quantity: CelQuantity) -> int | None:
    """Return the value if it has no fraction and fits into int64, like Kubernetes' isInteger."""
    amount = quantity.quantity
    if amount.exponent < 0 or not amount.text:
        return None
    value = amount.digits * 10**amount.exponent
    return value if INT[0] <= value <= INT[1] else None


def _as_integer(quantity: CelQuantity) -> int:
    value = _integer(quantity)
    if value is None:
        raise EvaluationError("cannot convert value to integer")
    return value


def _sum(left: CelQuantity, right: CelQuantity | int, sign: int = 1) -> CelQuantity:
    """Add at the smaller of the two exponents, as Kubernetes' int64Amount does."""
    first = left.quantity
    second = Quantity(right, 0, "exponent", "0") if isinstance(right, int) else right.quantity
    exponent = min(first.exponent, second.exponent)
    total = first.digits * 10 ** (first.exponent - exponent)
    total += sign * second.digits * 10 ** (second.exponent - exponent)
    text = f"{total}e{exponent}" if first.text and second.text else ""
    return CelQuantity(Quantity(total, exponent, first.format, text))


def _sign(quantity: CelQuantity) -> int:
    return (quantity.quantity.digits > 0) - (quantity.quantity.digits < 0)


def _order(left: CelQuantity, right: CelQuantity) -> int:
    first, second = left.quantity.value, right.quantity.value
    return (first > second) - (first < second)


def _semver(text: str) -> CelSemver:
    match = _SEMVER.match(text)
    if match is None:
        raise EvaluationError("not a semantic version")
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    return CelSemver(numbers, tuple(match[4].split(".")) if match[4] else ())


LIBRARIES: Final[Mapping[str, Implementation]] = {
    **LISTS,
    **ADDRESSES,
    **FORMAT_FUNCTIONS,
    "isQuantity(string) -> bool": is_valid(_quantity),
    "quantity(string) -> kubernetes.Quantity": _quantity,
    "sign(kubernetes.Quantity) -> int": _sign,
    "kubernetes.Quantity:isInteger() -> bool": lambda value: _integer(value) is not None,
    "kubernetes.Quantity:asInteger() -> int": _as_integer,
    "kubernetes.Quantity:asApproximateFloat() -> double": lambda value: value.quantity.approximate,
    "kubernetes.Quantity:isGreaterThan(kubernetes.Quantity) -> bool": lambda a, b: _order(a, b) > 0,
    "kubernetes.Quantity:isLessThan(kubernetes.Quantity) -> bool": lambda a, b: _order(a, b) < 0,
    "kubernetes.Quantity:compareTo(kubernetes.Quantity) -> int": _order,
    "kubernetes.Quantity:add(kubernetes.Quantity) -> kubernetes.Quantity": _sum,
    "kubernetes.Quantity:add(int) -> kubernetes.Quantity": _sum,
    "kubernetes.Quantity:sub(kubernetes.Quantity) -> kubernetes.Quantity": lambda a, b: _sum(
        a, b, -1
    ),
    "kubernetes.Quantity:sub(int) -> kubernetes.Quantity": lambda a, b: _sum(a, b, -1),
    "isSemver(string) -> bool": is_valid(_semver),
    "semver(string) -> kubernetes.Semver": _semver,
    "kubernetes.Semver:isGreaterThan(kubernetes.Semver) -> bool": lambda a, b: b < a,
    "kubernetes.Semver:isLessThan(kubernetes.Semver) -> bool": lambda a, b: a < b,
    "kubernetes.Semver:compareTo(kubernetes.Semver) -> int": lambda a, b: (b < a) - (a < b),
    "kubernetes.Semver:major() -> int": lambda version: version.numbers[0],
    "kubernetes.Semver:minor() -> int": lambda version: version.numbers[1],
    "kubernetes.Semver:patch() -> int": lambda version: version.numbers[2],
}
