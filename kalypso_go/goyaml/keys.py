"""The keys of a mapping: their order when written, and their equality when read.

Order: numbers and booleans by value, then nil, then strings in a natural order that compares runs
of digits as numbers. yaml.v2 and yaml.v3 order the characters after a run of digits differently.

`True`, `1` and `1.0` are equal in Python, but three keys in Go. So `parse` turns float keys with an
integral value into `FloatKey`s and the integers 0 and 1 into `IntKey`s: subclasses of `float` and
`int` that equal only their own kind. Booleans and all other numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cmp_to_key, lru_cache
from operator import itemgetter
from string import ascii_letters
from typing import Final

from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.quoting import to_runes
from kalypso_go.goyaml.scalars import MAX_INT64, MAX_UINT64, Scalar

DIGITS: Final = re.compile("([0-9]+)")
LETTER_AFTER_DIGIT: Final = re.compile("[0-9][A-Za-z]")
MAX_DIGITS: Final = 18
"""Go's int64 holds every number of this many digits."""
CACHED_KEYS: Final = 64
CACHED_LENGTH: Final = 2048
NUMBER: Final = "\x80"
LETTERS_LAST: Final = {ord(letter): 0x100 + ord(letter) for letter in ascii_letters}


class InOrder(dict[object, object]):
    """A struct: its entries keep their order."""

    __slots__ = ()


class IntKey(int):
    """The key 0 or 1, distinct from the keys `False` and `True`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntKey) and int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # `True == IntKey(1)` cannot be overridden, but dictionaries compare only equal hashes.
        return hash((IntKey, int(self)))


class FloatKey(float):
    """A float key with an integral value, distinct from the integer key of that value."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and float.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return float.__hash__(self)


def distinct_key(key: Scalar) -> Scalar:
    """Return `key` in a form that equals exactly the keys that are equal in Go."""
    if type(key) is float:
        if key != key:  # noqa: PLR0124 - NaN equals nothing, so each is a separate key
            return float("nan")
        return FloatKey(key) if key.is_integer() else key
    if type(key) is int and key in {0, 1}:
        return IntKey(key)
    return key


def ordered(mapping: Mapping[object, object], *, version: int) -> list[tuple[object, object]]:
    """Return the entries of `mapping` in the order of yaml.v2 or yaml.v3 (`version`).

    The fields of a struct keep their order. Raises `YAMLError` for a key that is not a scalar.
    """
    if len(mapping) < 2 or isinstance(mapping, InOrder):
        return list(mapping.items())
    if (
        len(mapping) <= CACHED_KEYS
        and set(map(type, mapping)) == {str}
        and sum(map(len, mapping)) <= CACHED_LENGTH  # type: ignore[arg-type]
    ):
        return [(key, mapping[key]) for key in _cached_order(tuple(mapping), version)]
    return [(key, mapping[key]) for key in _order(tuple(mapping), version)]


def _order(keys: tuple[object, ...], version: int) -> list[object]:
    ranks = [natural_key(key, version) if type(key) is str else None for key in keys]
    if None in ranks:
        by_text = _BY_TEXT[version]
        return sorted(keys, key=lambda key: _rank(key, by_text))
    return [key for _, key in sorted(zip(ranks, keys, strict=True), key=itemgetter(0))]


_cached_order = lru_cache(maxsize=1 << 12)(_order)
"""For strings only: tuples of other keys may be equal although the keys differ (`True == 1`)."""


def _rank(key: object, by_text: Callable[[str], object]) -> tuple[object, ...]:
    """Return a sort key for keys of several kinds in Go's order; the kind breaks ties."""
    if isinstance(key, str):
        return (2, by_text(to_runes(key)))
    if key is None:
        return (1,)
    if isinstance(key, bool):
        return (0, float(key), 0, key)
    if isinstance(key, int) and key <= MAX_UINT64:
        return (0, float(key), 1 if key <= MAX_INT64 else 2, int(key))
    if isinstance(key, float):
        return (0, float(key), 3, float(key))
    raise YAMLError(f"a {type(key).__name__} cannot be the key of a mapping")


def natural_less(a: str, b: str, version: int) -> bool:
    """Return whether yaml.v2 or yaml.v3 (`version`) writes key `a` before `b`.

    The order of yaml.v2 is not total: 12b, 13 and 123 form a cycle.
    """
    length = min(len(a), len(b))
    at = next((i for i in range(length) if a[i] != b[i]), length)
    if at == length:
        return len(a) < len(b)
    if a[at].isalpha() and b[at].isalpha():
        return a[at] < b[at]
    if a[at].isalpha() or b[at].isalpha():
        after_digits = at > 0 and a[at - 1].isdecimal()
        return (a if version == 3 and after_digits else b)[at].isalpha()
    # A zero continues the number before it, unless that consists of zeros only.
    begun = "0" in {a[at], b[at]} and bool(_digits_before(a, at).strip("0"))
    number_a, end_a = _number_at(a, at, begun=begun)
    number_b, end_b = _number_at(b, at, begun=begun)
    return (number_a, end_a, a[at]) < (number_b, end_b, b[at])


def _digits_before(text: str, end: int) -> str:
    start = end
    while start and text[start - 1].isdecimal():
        start -= 1
    return text[start:end]


def _number_at(text: str, start: int, *, begun: bool) -> tuple[int, int]:
    """Return the number at `start`, wrapped to int64 as in Go, and the end of its digits."""
    number = int(begun)
    end = start
    while end < len(text) and text[end].isdecimal():
        # Digits of other scripts count by their code points, as in Go's arithmetic.
        number = number * 10 + ord(text[end]) - ord("0")
        end += 1
    return (number + 2**63) % 2**64 - 2**63, end


def _by_text(version: int) -> Callable[[str], object]:
    def compare(a: str, b: str) -> int:
        return -1 if natural_less(a, b, version) else int(natural_less(b, a, version))

    return cmp_to_key(compare)


_BY_TEXT: Final = {version: _by_text(version) for version in (2, 3)}


def natural_key(text: str, version: int) -> str | None:
    """Return a string that sorts like `natural_less`; None if there is no simple one.

    Symbols stay as they are, and letters sort after them. A run of digits becomes a mark that sorts
    between the two, the number of significant digits, these digits, and the number of all digits.
    After digits, yaml.v3 sorts letters before symbols, and yaml.v2 sorts them last.
    """
    if version == 2 and LETTER_AFTER_DIGIT.search(text):
        return None
    return _natural_key(text) if len(text) > CACHED_LENGTH else _cached_natural_key(text)


def _natural_key(text: str) -> str | None:
    if not text.isascii():
        return None
    parts = DIGITS.split(text)
    key = parts[0].translate(LETTERS_LAST)
    for position in range(1, len(parts), 2):
        digits, rest = parts[position], parts[position + 1]
        significant = digits.lstrip("0")
        if len(digits) > MAX_DIGITS:
            return None
        key += f"{NUMBER}{chr(len(significant))}{significant}{chr(len(digits))}"
        if rest:
            key += "\0" if rest[0].isalpha() else "\1"
            key += rest.translate(LETTERS_LAST)
    return key


_cached_natural_key = lru_cache(maxsize=1 << 14)(_natural_key)
