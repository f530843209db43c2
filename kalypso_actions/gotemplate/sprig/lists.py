"""Lists: taking parts, putting together, ordering. The given lists stay as they are."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.sprig.coercion import to_int64, to_string, to_strings
from kalypso_actions.gotemplate.sprig.defaults import is_empty
from kalypso_actions.gotemplate.sprig.equality import Collection
from kalypso_actions.gotemplate.sprig.nesting import elements
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.text import to_bytes
from kalypso_actions.gotemplate.values import (
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
    """The arguments as a list."""
    return list(values)


@function("append", "push", ANY, ANY, returns=ANY_SLICE)
def append(values: object, value: object) -> list[object]:
    """The list with one more element at the end."""
    found = elements(values, "Cannot push on type {}")
    return [*found, value]


@function("prepend", ANY, ANY, returns=ANY_SLICE)
def prepend(values: object, value: object) -> list[object]:
    """The list with one more element in front."""
    found = elements(values, "Cannot prepend on type {}")
    return [value, *found]


@function("concat", ANY, variadic=True)
def concat(*lists: object) -> list[object]:
    """The lists' elements as one list; nil where there are none."""
    joined: list[object] = []
    for values in lists:
        joined += elements(values, "Cannot concat type {} as list")
    return joined or _nil()


@function("first", ANY)
def first(values: object) -> object:
    """The first element, nil of an empty list."""
    found = elements(values, "Cannot find first on type {}")
    return found[0] if found else None


@function("last", ANY)
def last(values: object) -> object:
    """The last element, nil of an empty list."""
    found = elements(values, "Cannot find last on type {}")
    return found[-1] if found else None


@function("rest", ANY, returns=ANY_SLICE)
def rest(values: object) -> list[object]:
    """All but the first element; a nil list of an empty one."""
    found = elements(values, "Cannot find rest on type {}")
    return found[1:] if found else _nil()


@function("initial", ANY, returns=ANY_SLICE)
def initial(values: object) -> list[object]:
    """All but the last element; a nil list of an empty one."""
    found = elements(values, "Cannot find initial on type {}")
    return found[:-1] if found else _nil()


@function("reverse", ANY, returns=ANY_SLICE)
def reverse(values: object) -> list[object]:
    """The elements in the other order."""
    found = elements(values, "Cannot find reverse on type {}")
    return found[::-1]


@function("compact", ANY, returns=ANY_SLICE)
def compact(values: object) -> list[object]:
    """The elements that are not empty."""
    found = elements(values, "Cannot compact on type {}")
    return [value for value in found if not is_empty(value)]


@function("uniq", ANY, returns=ANY_SLICE, bounded=True)
def uniq(budget: Budget, values: object) -> list[object]:
    """The elements, of equal ones the first."""
    found = elements(values, "Cannot find uniq on type {}")
    kept = []
    seen = Collection(budget)
    for value in found:
        if value not in seen:
            seen.add(value)
            kept.append(value)
    return kept


@function("without", ANY, ANY, variadic=True, returns=ANY_SLICE, bounded=True)
def without(budget: Budget, values: object, *omitted: object) -> list[object]:
    """The elements that equal none of the other arguments."""
    found = elements(values, "Cannot find without on type {}")
    unwanted = Collection(budget, omitted)
    return [value for value in found if value not in unwanted]


@function("has", ANY, ANY, returns=BOOL, bounded=True)
def has(budget: Budget, value: object, values: object) -> bool:
    """Whether the list has an element that equals `value`."""
    if values is None:
        return False
    return value in Collection(budget, elements(values, "Cannot find has on type {}"))


@function("slice", ANY, ANY, variadic=True)
def slice_(values: object, *bounds: object) -> object:
    """The elements between two positions, as a list of the same type; nil of an empty list."""
    found = elements(values, "list should be type of slice or array but {}")
    if not found:
        return None
    start = to_int64(bounds[0]) if bounds else 0
    end = to_int64(bounds[1]) if len(bounds) > 1 else len(found)
    if not 0 <= start <= end <= len(found):
        raise FunctionError("reflect.Value.Slice: slice index out of bounds")
    return GoSlice(type_of(values) or ANY_SLICE, found[start:end])


@function("sortAlpha", ANY, returns=STRING_SLICE, bounded=True)
def sort_alpha(budget: Budget, values: object) -> GoSlice:
    """The elements as texts in the order of their bytes; a list of texts is sorted in its place."""
    if not isinstance(values, list):
        return GoSlice(STRING_SLICE, [to_string(budget, values)])
    ordered = sorted(to_strings(budget, values), key=to_bytes)
    if isinstance(values, GoSlice) and values.type == STRING_SLICE:
        values[:] = ordered
        return values
    return GoSlice(STRING_SLICE, ordered)
