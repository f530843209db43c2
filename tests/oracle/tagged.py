"""Conversion between the oracle's JSON form of Go's values and their Python representation.

Strings, booleans and null are plain JSON; numbers and containers carry their Go type:
`{"int": "5"}`, `{"list": […]}`, `{"map": [[key, value], …]}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from kalypso_go.gotemplate.values import (
    ANY_MAP,
    INT64,
    STRING_MAP,
    STRING_SLICE,
    UINT64,
    YAML_MAP,
    GoInt,
    GoMap,
    GoSlice,
)

_MAP_TAGS = {YAML_MAP.name: "map", STRING_MAP.name: "strmap", ANY_MAP.name: "smap"}


def from_tagged(encoded: Any) -> Any:
    """Return the value of the JSON form; `map[string]interface {}` is a plain dict."""
    if not isinstance(encoded, dict):
        return encoded
    ((tag, content),) = encoded.items()
    return _DECODERS[tag](content)


def to_tagged(value: Any) -> Any:
    """Return the JSON form of a value, with the pairs of maps in `canonical` order."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {value.type.name if isinstance(value, GoInt) else "int": str(int(value))}
    if isinstance(value, float):
        return {"float64": _float(value)}
    if isinstance(value, list):
        texts = isinstance(value, GoSlice) and value.type == STRING_SLICE
        return {"strs" if texts else "list": [to_tagged(element) for element in value]}
    if isinstance(value, dict):
        tag = _MAP_TAGS[value.type.name] if isinstance(value, GoMap) else "smap"
        return {tag: _sorted([[to_tagged(k), to_tagged(v)] for k, v in value.items()])}
    raise TypeError(f"not a Go value: {value!r}")


def canonical(encoded: Any) -> Any:
    """Sort the pairs of every map, so that equal values compare equal."""
    if not isinstance(encoded, dict):
        return encoded
    ((tag, content),) = encoded.items()
    if tag == "list":
        return {tag: [canonical(element) for element in content]}
    if tag in {"map", "smap", "strmap"}:
        return {tag: _sorted([[canonical(key), canonical(value)] for key, value in content])}
    if tag == "float64":
        return {tag: _float(float(content))}
    return encoded


def _sorted(pairs: list[list[Any]]) -> list[list[Any]]:
    return sorted(pairs, key=json.dumps)


def _float(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(value)


def _pairs(content: list[list[Any]]) -> list[tuple[Any, Any]]:
    return [(from_tagged(key), from_tagged(value)) for key, value in content]


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "int64": lambda digits: GoInt(INT64, int(digits)),
    "uint64": lambda digits: GoInt(UINT64, int(digits)),
    "float64": float,
    "list": lambda elements: [from_tagged(element) for element in elements],
    "strs": lambda texts: GoSlice(STRING_SLICE, texts),
    "map": lambda pairs: GoMap(YAML_MAP, _pairs(pairs)),
    "smap": lambda pairs: dict(_pairs(pairs)),
    "strmap": lambda pairs: GoMap(STRING_MAP, _pairs(pairs)),
}
