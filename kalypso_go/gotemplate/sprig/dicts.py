"""Functions on maps with string keys, and their merging like imdario/mergo 0.3.13."""

from __future__ import annotations

from collections.abc import Sequence

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import check_depth, kind_of, to_string
from kalypso_go.gotemplate.sprig.reflection import is_empty
from kalypso_go.gotemplate.sprig.semver import VersionValue
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
    GoStruct,
    Type,
    type_of,
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


_AnyMap = dict[object, object]


class _DifferentTypesError(Exception):
    """The only error of mergo that can occur; sprig ignores it."""


@function("merge", ANY_MAP, ANY_MAP, variadic=True, takes_budget=True, changes_arguments=True)
def merge(budget: Budget, target: _AnyMap, *sources: _AnyMap) -> object:
    """Set missing and empty values of the first map from the others, and return it."""
    return _merge_all(_Merger(budget, overwrite=False), target, sources)


@function(
    "mergeOverwrite", ANY_MAP, ANY_MAP, variadic=True, takes_budget=True, changes_arguments=True
)
def merge_overwrite(budget: Budget, target: _AnyMap, *sources: _AnyMap) -> object:
    """Replace values of the first map by those of the others, and return it."""
    return _merge_all(_Merger(budget, overwrite=True), target, sources)


def _merge_all(merger: _Merger, target: _AnyMap, sources: Sequence[_AnyMap]) -> object:
    try:
        for source in sources:
            if _is_nil(target) and not _is_nil(source):
                target = {}
            merger.merge(target, source, 0)
    except _DifferentTypesError:
        return ""
    return target


def _is_nil(values: _AnyMap) -> bool:
    return isinstance(values, GoMap) and values.nil


class _Merger:
    """Merges one map into another, without copying values."""

    def __init__(self, budget: Budget, *, overwrite: bool) -> None:
        self.budget = budget
        self.overwrite = overwrite

    def merge(self, target: _AnyMap, source: _AnyMap, depth: int) -> None:
        check_depth(depth, "merge")
        self.budget.spend(16 * len(source), "merge")
        static = _part(source, "elem")
        for key, value in list(source.items()):
            _check_assignable("MapIndex", _part(source, "key"), _part(target, "key"))
            if value is not None:
                self._merge_value(target, key, value, static, depth)
            elif self.overwrite:
                _store(target, key, value, static)

    def _merge_value(
        self, target: _AnyMap, key: object, value: object, static: Type, depth: int
    ) -> None:
        """Merge one value; `static` is the element type of its map."""
        kind = kind_of(value)
        if kind in ("struct", "ptr", "map"):
            self._merge_within(target.get(key), value, depth + 1)
        elif kind == "slice":
            _check_list(target, key, value)
        keeps = key in target and not is_empty(target[key])
        if not keeps or (self.overwrite and kind != "map"):
            _store(target, key, value, static)

    def _merge_within(self, target: object, source: object, depth: int) -> None:
        """Merge into the existing value of a map."""
        if isinstance(target, dict):
            if isinstance(source, dict):
                self.merge(target, source, depth)
            elif self.overwrite:
                raise FunctionError("reflect: reflect.Value.Set using unaddressable value")
        elif isinstance(target, GoStruct) and target.pointer:
            self._merge_pointers(target, source)

    def _merge_pointers(self, target: GoStruct, source: object) -> None:
        to_pointer = isinstance(source, GoStruct) and source.pointer
        if self.overwrite:
            if isinstance(target, VersionValue) and isinstance(source, VersionValue):
                target.become(source.version)
        elif not to_pointer and type_of(source) != target.type:
            raise _DifferentTypesError


def _part(values: _AnyMap, part: str) -> Type:
    """Return the type of the keys or elements of a map."""
    type_: Type = getattr(type_of(values), part)
    return type_


def _check_assignable(operation: str, type_: Type, target: Type) -> None:
    if target.kind != "interface" and type_ != target:
        raise FunctionError(
            f"reflect.Value.{operation}: value of type {type_} is not assignable to type {target}"
        )


def _check_list(target: _AnyMap, key: object, value: object) -> None:
    """Fail like mergo if the map's element type does not accept a list."""
    element = _part(target, "elem")
    if element.kind != "interface":
        if key in target:
            raise FunctionError(f"reflect: call of reflect.Value.IsNil on {element.kind} Value")
        _check_assignable("SetMapIndex", type_of(value) or ANY, element)


def _store(target: _AnyMap, key: object, value: object, static: Type) -> None:
    _check_assignable("SetMapIndex", static, _part(target, "elem"))
    target[key] = value
