"""Functions on maps with string keys."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import to_string
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    BOOL,
    STRING,
    STRING_SLICE,
    FunctionError,
    GoMap,
    GoSlice,
)

Map = dict[str, object]


@function("dict", ANY, variadic=True, returns=ANY_MAP, takes_budget=True)
def dict_(budget: Budget, *keys_and_values: object) -> Map:
    """Return a map of alternating keys and values; a final key without a value gets `""`."""
    arguments = [*keys_and_values, ""] if len(keys_and_values) % 2 else keys_and_values
    return {
        to_string(budget, key): value
        for key, value in zip(arguments[::2], arguments[1::2], strict=True)
    }


@function("set", ANY_MAP, STRING, ANY, returns=ANY_MAP, changes_arguments=True)
def set_(values: Map, key: str, value: object) -> Map:
    """Set `key` to `value`, and return the same map."""
    if isinstance(values, GoMap) and values.nil:
        raise FunctionError("assignment to entry in nil map")
    values[key] = value
    return values


@function("unset", ANY_MAP, STRING, returns=ANY_MAP, changes_arguments=True)
def unset(values: Map, key: str) -> Map:
    """Delete `key`, and return the same map."""
    values.pop(key, None)
    return values


@function("hasKey", ANY_MAP, STRING, returns=BOOL)
def has_key(values: Map, key: str) -> bool:
    """Return whether the map has `key`."""
    return key in values


@function("pluck", STRING, ANY_MAP, variadic=True, returns=ANY_SLICE)
def pluck(key: str, *maps: Map) -> list[object]:
    """Return the values of `key` in those maps that have it."""
    return [values[key] for values in maps if key in values]


def sorted_keys(values: Map) -> list[str]:
    """Return the keys in the order in which Go prints them.

    Go's `keys` and `values` return a random order; this order makes their output reproducible.
    """
    return sorted(values, key=to_bytes)


@function("keys", ANY_MAP, variadic=True, returns=STRING_SLICE)
def keys(*maps: Map) -> GoSlice:
    """Return the keys of all maps, map by map."""
    return GoSlice(STRING_SLICE, [key for values in maps for key in sorted_keys(values)])


@function("values", ANY_MAP, returns=ANY_SLICE)
def values_(values: Map) -> list[object]:
    """Return the values of a map in the order of the keys."""
    return [values[key] for key in sorted_keys(values)]


@function("pick", ANY_MAP, STRING, variadic=True, returns=ANY_MAP)
def pick(values: Map, *wanted: str) -> Map:
    """Return a new map with the given keys, if present."""
    return {key: values[key] for key in wanted if key in values}


@function("omit", ANY_MAP, STRING, variadic=True, returns=ANY_MAP)
def omit(values: Map, *unwanted: str) -> Map:
    """Return a new map without the given keys."""
    others = dict(values)
    for key in unwanted:
        others.pop(key, None)
    return others
