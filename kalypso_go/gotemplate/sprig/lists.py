"""Functions on lists; except for `sortAlpha`, none modifies its arguments."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import elements, to_int64, to_string, to_strings
from kalypso_go.gotemplate.sprig.reflection import Collection, is_empty
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_SLICE,
    BOOL,
    STRING_SLICE,
    FunctionError,
    GoSlice,
    type_of,
)


def _nil() -> GoSlice:
    return GoSlice(ANY_SLICE, nil=True)


@function("list", "tuple", ANY, variadic=True, returns=ANY_SLICE)
def list_(*values: object) -> list[object]:
    """Return the arguments as a list."""
    return list(values)


@function("append", "push", ANY, ANY, returns=ANY_SLICE)
def append(values: object, value: object) -> list[object]:
    """Return the list with one more element at the end."""
    items = elements(values, "Cannot push on type {}")
    return [*items, value]


@function("prepend", ANY, ANY, returns=ANY_SLICE)
def prepend(values: object, value: object) -> list[object]:
    """Return the list with one more element at the start."""
    items = elements(values, "Cannot prepend on type {}")
    return [value, *items]


@function("concat", ANY, variadic=True)
def concat(*lists: object) -> list[object]:
    """Return the elements of all lists as one list; nil if there are none."""
    joined: list[object] = []
    for values in lists:
        joined += elements(values, "Cannot concat type {} as list")
    return joined or _nil()


@function("first", ANY)
def first(values: object) -> object:
    """Return the first element; nil for an empty list."""
    items = elements(values, "Cannot find first on type {}")
    return items[0] if items else None


@function("last", ANY)
def last(values: object) -> object:
    """Return the last element; nil for an empty list."""
    items = elements(values, "Cannot find last on type {}")
    return items[-1] if items else None


@function("rest", ANY, returns=ANY_SLICE)
def rest(values: object) -> list[object]:
    """Return all but the first element; a nil list for an empty one."""
    items = elements(values, "Cannot find rest on type {}")
    return items[1:] if items else _nil()


@function("initial", ANY, returns=ANY_SLICE)
def initial(values: object) -> list[object]:
    """Return all but the last element; a nil list for an empty one."""
    items = elements(values, "Cannot find initial on type {}")
    return items[:-1] if items else _nil()


@function("reverse", ANY, returns=ANY_SLICE)
def reverse(values: object) -> list[object]:
    """Return the elements in reverse order."""
    items = elements(values, "Cannot find reverse on type {}")
    return items[::-1]


@function("compact", ANY, returns=ANY_SLICE)
def compact(values: object) -> list[object]:
    """Return the elements that are not empty."""
    items = elements(values, "Cannot compact on type {}")
    return [value for value in items if not is_empty(value)]


@function("uniq", ANY, returns=ANY_SLICE, takes_budget=True)
def uniq(budget: Budget, values: object) -> list[object]:
    """Return the first of each group of equal elements."""
    items = elements(values, "Cannot find uniq on type {}")
    kept = []
    seen = Collection(budget)
    for value in items:
        if value not in seen:
            seen.add(value)
            kept.append(value)
    return kept


@function("without", ANY, ANY, variadic=True, returns=ANY_SLICE, takes_budget=True)
def without(budget: Budget, values: object, *omitted: object) -> list[object]:
    """Return the elements that equal none of the other arguments."""
    items = elements(values, "Cannot find without on type {}")
    unwanted = Collection(budget, omitted)
    return [value for value in items if value not in unwanted]


@function("has", ANY, ANY, returns=BOOL, takes_budget=True)
def has(budget: Budget, value: object, values: object) -> bool:
    """Return whether the list has an element that equals `value`."""
    if values is None:
        return False
    return value in Collection(budget, elements(values, "Cannot find has on type {}"))


@function("slice", ANY, ANY, variadic=True)
def slice_(values: object, *bounds: object) -> object:
    """Return the elements between two positions in the same type of list; nil for an empty list."""
    items = elements(values, "list should be type of slice or array but {}")
    if not items:
        return None
    start = to_int64(bounds[0]) if bounds else 0
    end = to_int64(bounds[1]) if len(bounds) > 1 else len(items)
    if not 0 <= start <= end <= len(items):
        raise FunctionError("reflect.Value.Slice: slice index out of bounds")
    return GoSlice(type_of(values) or ANY_SLICE, items[start:end])


@function("sortAlpha", ANY, returns=STRING_SLICE, takes_budget=True)
def sort_alpha(budget: Budget, values: object) -> GoSlice:
    """Return the elements as strings in byte order; a list of strings is sorted in place."""
    if not isinstance(values, list):
        return GoSlice(STRING_SLICE, [to_string(budget, values)])
    ordered = sorted(to_strings(budget, values), key=to_bytes)
    if isinstance(values, GoSlice) and values.type == STRING_SLICE:
        values[:] = ordered
        return values
    return GoSlice(STRING_SLICE, ordered)
