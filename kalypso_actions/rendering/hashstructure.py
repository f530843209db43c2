"""The hash of hashstructure 1.1.0 with its default function, FNV-1 with 64 bits.

    text        its bytes                      list    ordered(hash so far, element), from 0
    int         its bytes, little-endian       map     exclusive or of all ordered(key, value)
    float       8 bytes                        struct  its type's name, then a map of its fields
    bool        1 byte                         nil     the int 0

`ordered(a, b)` is the hash of the 16 bytes of two hashes.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

from kalypso_go import goyaml
from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.sprig.dates import TimeValue
from kalypso_go.gotemplate.sprig.instants import UTC_LOCATION, Instant
from kalypso_go.gotemplate.text import to_bytes
from kalypso_go.gotemplate.values import FunctionError, GoInt, GoStruct, type_of

OFFSET: Final = 0xCBF29CE484222325
PRIME: Final = 0x100000001B3
MASK: Final = (1 << 64) - 1

WIDTHS: Final = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
"""Integers of fewer than eight bytes."""

GO_NAN: Final = (0x7FF8000000000001).to_bytes(8, "little")
MAX_HASHED_DEPTH: Final = 100
CACHED_LENGTH: Final = 256
ELEMENT_WORK: Final = 256
"""The cost of an element, in characters: a list that contains itself many times is small."""
_hashes: goyaml.ContentCache[tuple[int, int]] = goyaml.ContentCache(2048)

SECONDS_FROM_YEAR_1_TO_1970: Final = 62_135_596_800


def hash_of(value: object, budget: Budget) -> int:
    """Return the hash of a value of a template.

    Raises `FunctionError` for functions and complex numbers, and `LimitError` for a value that is
    nested too deeply or is beyond the budget.
    """
    key = goyaml.content_key(value)
    known = _hashes.get(key)
    if known is not None:
        result, work = known
        budget.spend(work, "hash")  # the limit is independent of the cache
        return result
    before = budget.work
    result = _Hasher(budget).visit(value, 0)
    work = budget.work - before  # counts each character
    _hashes.put(key, (result, work), work)
    return result


class _Hasher:
    """Visits one value with everything in it."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def visit(self, value: object, depth: int) -> int:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict | list | GoStruct):
            if depth > MAX_HASHED_DEPTH:
                raise LimitError(f"hash: values may nest {MAX_HASHED_DEPTH} levels")
            if isinstance(value, list):
                return self.sequence(value, depth + 1)
            if isinstance(value, dict):
                return self.entries(value, depth + 1)
            return self.structure(value, depth + 1)
        return _number(value)

    def text(self, text: str) -> int:
        self.budget.spend(len(text), "hash")
        return _text(text) if len(text) > CACHED_LENGTH else _cached_text(text)

    def sequence(self, elements: list[object], depth: int) -> int:
        self.budget.spend(len(elements) * ELEMENT_WORK, "hash")
        result = 0
        for element in elements:
            result = _ordered(result, self.visit(element, depth))
        return result

    def entries(self, mapping: dict[object, object], depth: int) -> int:
        self.budget.spend(len(mapping) * ELEMENT_WORK, "hash")
        result = characters = 0
        for key, value in mapping.items():
            if type(key) is type(value) is str and (size := len(key) + len(value)) <= CACHED_LENGTH:
                result ^= _cached_text_entry(key, value)  # most entries
                characters += size
            else:
                result ^= _ordered(self.visit(key, depth), self.visit(value, depth))
        self.budget.spend(characters, "hash")  # at most CACHED_LENGTH for each counted element
        return result

    def structure(self, value: GoStruct, depth: int) -> int:
        if isinstance(value, TimeValue):
            return _fnv(_binary_time(value.instant))
        result = self.text(value.type.name.rpartition(".")[2])
        for name, member in value.fields.items():
            result ^= _ordered(self.text(name), self.visit(member, depth))
        return result


def _number(value: object) -> int:
    if value is None:
        return _cached_fnv(bytes(8))
    if isinstance(value, bool):
        return _cached_fnv(bytes([value]))
    if isinstance(value, int):
        width = WIDTHS.get(value.type.kind, 8) if isinstance(value, GoInt) else 8
        return _cached_fnv((value & MASK).to_bytes(8, "little")[:width])
    if isinstance(value, float):
        # Python's and Go's NaN have different bits.
        return _cached_fnv(struct.pack("<d", value) if value == value else GO_NAN)  # noqa: PLR0124
    known = type_of(value)
    raise FunctionError(f"unknown kind to hash: {known.kind if known else 'invalid'}")


def _fnv(data: bytes) -> int:
    result = OFFSET
    for byte in data:
        result = (result * PRIME & MASK) ^ byte
    return result


_cached_fnv = lru_cache(maxsize=1 << 12)(_fnv)


def _text(text: str) -> int:
    return _fnv(to_bytes(text))


_cached_text = lru_cache(maxsize=1 << 14)(_text)


@lru_cache(maxsize=1 << 14)
def _cached_text_entry(key: str, text: str) -> int:
    return _ordered(_cached_text(key), _text(text))


@lru_cache(maxsize=1 << 14)
def _ordered(first: int, second: int) -> int:
    return _fnv(struct.pack("<QQ", first, second))


def _binary_time(instant: Instant) -> bytes:
    """Encode as Go's `Time.MarshalBinary`: version, seconds, nanoseconds, offset (-1: UTC)."""
    seconds = instant.unix + SECONDS_FROM_YEAR_1_TO_1970
    minutes, odd_seconds = -1, 0
    if instant.location != UTC_LOCATION:
        offset = instant.zone()[1]
        odd_seconds = abs(offset) % 60 * (1 if offset >= 0 else -1)
        minutes = (offset - odd_seconds) // 60
        if minutes == -1 or not -(1 << 15) <= minutes < 1 << 15:
            raise FunctionError("Time.MarshalBinary: unexpected zone offset")
    version = 2 if odd_seconds else 1
    data = struct.pack(">BqIh", version, seconds, instant.nanosecond, minutes)
    return data + struct.pack(">b", odd_seconds) if odd_seconds else data
