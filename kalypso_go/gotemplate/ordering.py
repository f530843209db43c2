"""The order in which Go prints the keys of a map and ranges over them."""

from __future__ import annotations

import math
from typing import Any

from kalypso_go.gotemplate.text import to_bytes
from kalypso_go.gotemplate.values import type_of

# Go orders keys of different types by the memory addresses of the types, so the order depends on
# the build; this is the order observed with upstream's libraries.
_TYPES = ("string", "int64", "uint64", "int", "float64", "bool")


def sorted_keys(value: dict[object, object]) -> list[object]:
    """Return the keys of a map in order: nil, then type by type; strings by their bytes."""
    if set(map(type, value)) != {str}:
        return sorted(value, key=_key)
    keys: list[Any] = list(value)
    keys.sort(key=None if "".join(keys).isascii() else to_bytes)
    return keys


def _key(key: object) -> tuple[object, ...]:
    go_type = type_of(key)
    if go_type is None:
        return (-2,)
    name = go_type.name
    place = _TYPES.index(name) if name in _TYPES else len(_TYPES)
    if isinstance(key, str):
        return (place, name, to_bytes(key))
    if isinstance(key, float) and math.isnan(key):
        return (place, name, -math.inf)
    return (place, name, key)
