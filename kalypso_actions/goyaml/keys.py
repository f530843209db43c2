"""The keys of a mapping: their order when written, and how Python keeps them apart when read.

Order: numbers and booleans by value, then nil, then strings in a natural order, in which a run of
digits counts as a number. yaml.v2 and yaml.v3 differ in what comes after a run of digits.

Python's `True == 1 == 1.0` are three keys to Go. So in a mapping that was read, a float key with
an integral value is a `FloatKey` and the integers 0 and 1 are `IntKey`s: subclasses of `float` and
`int` that equal only their own kind. `True` and `False`, and all other numbers, are as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cmp_to_key, lru_cache
from operator import itemgetter
from string import ascii_letters
from typing import Final

from kalypso_actions.goyaml.errors import YAMLError
from kalypso_actions.goyaml.represented import InOrder
from kalypso_actions.goyaml.scalars import MAX_INT64, MAX_UINT64, Scalar
from kalypso_actions.goyaml.surrogates import to_runes

DIGITS: Final = re.compile("([0-9]+)")
LETTER_AFTER_DIGIT: Final = re.compile("[0-9][A-Za-z]")
MAX_DIGITS: Final = 18
"""Digits that fit Go's int64, whatever they are."""
CACHED_KEYS: Final = 64
NUMBER: Final = "\x80"
LETTERS_LAST: Final = {ord(letter): 0x100 + ord(letter) for letter in ascii_letters}


class IntKey(int):
    """The key 0 or 1, which is not the key `False` or `True`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntKey) and int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # A dictionary compares what has the same hash, and `True == IntKey(1)` is beyond our reach.
        return hash((IntKey, int(self)))


class FloatKey(float):
    """A float key with an integral value, which is not the integer key of that value."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and float.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return float.__hash__(self)


def distinct_key(key: Scalar) -> Scalar:
    """`key` as a key of a mapping that was read: equal to just the keys that Go holds equal."""
    if type(key) is float:
        if key != key:  # noqa: PLR0124 - NaN, which equals nothing: each one is a key of its own
            return float("nan")
        return FloatKey(key) if key.is_integer() else key
    if type(key) is int and key in {0, 1}:
        return IntKey(key)
    return key


def ordered(mapping: Mapping[object, object], *, version: int) -> list[tuple[object, object]]:
    """The entries of `mapping` in the order in which yaml.v2 or yaml.v3 (`version`) writes them.

    Those of a struct keep theirs. Raises `YAMLError` for a key that is no scalar.
    """
    if len(mapping) < 2 or isinstance(mapping, InOrder):
        return list(mapping.items())
    if len(mapping) <= CACHED_KEYS and set(map(type, mapping)) == {str}:
        return [(key, mapping[key]) for key in _cached_order(tuple(mapping), version)]
    return [(key, mapping[key]) for key in _order(tuple(mapping), version)]


def _order(keys: tuple[object, ...], version: int) -> list[object]:
    natural = natural_key_v2 if version == 2 else natural_key_v3
    ranks = [natural(key) if type(key) is str else None for key in keys]
    if None in ranks:
        by_text = _BY_TEXT[version]
        return sorted(keys, key=lambda key: _rank(key, by_text))
    return [key for _, key in sorted(zip(ranks, keys, strict=True), key=itemgetter(0))]


_cached_order = lru_cache(maxsize=1 << 12)(_order)
"""For texts only: Python's `True == 1 == 1.0`, so that tuples of other keys may be equal."""


def _rank(key: object, by_text: Callable[[str], object]) -> tuple[object, ...]:
    """Go's order of keys of several kinds; equal numbers are ordered by their kinds."""
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


def natural_less_v2(a: str, b: str) -> bool:
    """Whether yaml.v2 writes the key `a` before `b`; it goes in circles for 12b, 13 and 123."""
    return _natural_less(a, b, letters_first_after_digits=False)


def natural_less_v3(a: str, b: str) -> bool:
    """Whether yaml.v3 writes the key `a` before `b`."""
    return _natural_less(a, b, letters_first_after_digits=True)


def _natural_less(a: str, b: str, *, letters_first_after_digits: bool) -> bool:
    length = min(len(a), len(b))
    at = next((i for i in range(length) if a[i] != b[i]), length)
    if at == length:
        return len(a) < len(b)
    if a[at].isalpha() and b[at].isalpha():
        return a[at] < b[at]
    if a[at].isalpha() or b[at].isalpha():
        after_digits = at > 0 and a[at - 1].isdecimal()
        return (a if letters_first_after_digits and after_digits else b)[at].isalpha()
    # A zero here is a digit of a number that has begun before, unless only zeros came before.
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
    """The number whose digits begin at `start`, in Go's int64, and where they end."""
    number = int(begun)
    end = start
    while end < len(text) and text[end].isdecimal():
        # The digits of other scripts count by their code points, as Go's arithmetic has it.
        number = number * 10 + ord(text[end]) - ord("0")
        end += 1
    return (number + 2**63) % 2**64 - 2**63, end


def _by_text(less: Callable[[str, str], bool]) -> Callable[[str], object]:
    def compare(a: str, b: str) -> int:
        return -1 if less(a, b) else int(less(b, a))

    return cmp_to_key(compare)


_BY_TEXT: Final = {2: _by_text(natural_less_v2), 3: _by_text(natural_less_v3)}


@lru_cache(maxsize=1 << 14)
def natural_key_v3(text: str) -> str | None:
    """A string that sorts as `natural_less_v3` does; None where there is no simple one.

    Symbols stand for themselves, letters come after them. A run of digits is a mark between the
    two, the number of its significant digits, these, and the number of all. After digits, letters
    come before symbols.
    """
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


def natural_key_v2(text: str) -> str | None:
    """A string that sorts as `natural_less_v2` does; None where there is no simple one.

    The two libraries differ only in letters behind digits.
    """
    return None if LETTER_AFTER_DIGIT.search(text) else natural_key_v3(text)
