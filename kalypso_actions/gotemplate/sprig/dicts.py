"""Maps with texts as keys: making, reading, changing in place."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.sprig.coercion import to_string
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.text import to_bytes
from kalypso_actions.gotemplate.values import (
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


@function("dict", ANY, variadic=True, returns=ANY_MAP, bounded=True)
def dict_(budget: Budget, *keys_and_values: object) -> Map:
    """The arguments as a map, keys and values in turn; a last key alone has an empty text."""
    arguments = [*keys_and_values, ""] if len(keys_and_values) % 2 else keys_and_values
    return {
        to_string(budget, key): value
        for key, value in zip(arguments[::2], arguments[1::2], strict=True)
    }


@function("set", ANY_MAP, STRING, ANY, returns=ANY_MAP)
def set_(values: Map, key: str, value: object) -> Map:
    """The map itself, with `value` under `key`."""
    if isinstance(values, GoMap) and values.nil:
        raise FunctionError("assignment to entry in nil map")
    values[key] = value
    return values


@function("unset", ANY_MAP, STRING, returns=ANY_MAP)
def unset(values: Map, key: str) -> Map:
    """The map itself, without `key`."""
    values.pop(key, None)
    return values


@function("hasKey", ANY_MAP, STRING, returns=BOOL)
def has_key(values: Map, key: str) -> bool:
    """Whether the map has `key`."""
    return key in values


@function("pluck", STRING, ANY_MAP, variadic=True, returns=ANY_SLICE)
def pluck(key: str, *maps: Map) -> list[object]:
    """What stands under `key` in those maps that have it."""
    return [values[key] for values in maps if key in values]


def sorted_keys(values: Map) -> list[str]:
    """The keys in the order in which Go prints them.

    Where Go returns keys and values in any order, they come in this one: an output that changes
    from run to run helps nobody.
    """
    return sorted(values, key=to_bytes)


@function("keys", ANY_MAP, variadic=True, returns=STRING_SLICE)
def keys(*maps: Map) -> GoSlice:
    """The keys of all maps, map by map."""
    return GoSlice(STRING_SLICE, [key for values in maps for key in sorted_keys(values)])


@function("values", ANY_MAP, returns=ANY_SLICE)
def values_(values: Map) -> list[object]:
    """The values of a map, in the order of their keys."""
    return [values[key] for key in sorted_keys(values)]


@function("pick", ANY_MAP, STRING, variadic=True, returns=ANY_MAP)
def pick(values: Map, *wanted: str) -> Map:
    """A new map of the given keys, as far as there are such."""
    return {key: values[key] for key in wanted if key in values}


@function("omit", ANY_MAP, STRING, variadic=True, returns=ANY_MAP)
def omit(values: Map, *unwanted: str) -> Map:
    """A new map of all keys but the given ones."""
    return {key: value for key, value in values.items() if key not in unwanted}
