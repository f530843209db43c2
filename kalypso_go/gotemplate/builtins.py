"""Go's own functions; `calls` evaluates `and`, `or` and `call`, which have special rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote_plus

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget
from kalypso_go.gotemplate.characters import is_print
from kalypso_go.gotemplate.numerals import format_float
from kalypso_go.gotemplate.printf import sprint, sprintf, sprintln
from kalypso_go.gotemplate.text import byte_length, from_bytes, normal, to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    BOOL,
    INT,
    NO_VALUE,
    REFLECT_VALUE,
    STRING,
    UINT8,
    Function,
    FunctionError,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    Type,
    plain_key,
    type_of,
    zero,
)

# Comparison

_NUMBERS = frozenset({"int", "uint"})


def eq(first: object, *others: object) -> bool:
    """Return whether `first` equals one of the others."""
    if not others:
        raise FunctionError("missing argument for comparison")
    return any(_equal(first, other) for other in others)


def ne(first: object, second: object) -> bool:
    """Return whether two values differ."""
    return not _equal(first, second)


def lt(first: object, second: object) -> bool:
    """Return whether `first` comes before `second`."""
    if type(first) is type(second) and type(first) in {int, float}:
        return first < second  # type: ignore[operator, no-any-return]
    kind, other = _comparable_kind(first), _comparable_kind(second)
    if not kind or not other:
        raise FunctionError("invalid type for comparison")
    if kind != other and not {kind, other} <= _NUMBERS:
        raise _incompatible(first, second)
    if kind in {"bool", "complex"}:
        raise FunctionError("invalid type for comparison")
    if isinstance(first, str) and isinstance(second, str):
        return to_bytes(first) < to_bytes(second)
    return first < second  # type: ignore[operator, no-any-return]


def le(first: object, second: object) -> bool:
    """Return whether `first` comes before `second` or equals it."""
    return lt(first, second) or _equal(first, second)


def gt(first: object, second: object) -> bool:
    """Return the opposite of `le`."""
    return not le(first, second)


def ge(first: object, second: object) -> bool:
    """Return the opposite of `lt`."""
    return not lt(first, second)


def _comparable_kind(value: object) -> str:
    """Return the kind of values that `value` can be compared with; "" if there is none."""
    go_type = type_of(value)
    if go_type is None:
        return ""
    for kind in ("uint", "int", "float", "complex"):
        if go_type.kind.startswith(kind) and go_type.kind != "interface":
            return kind
    return go_type.kind if go_type.kind in {"bool", "string"} else ""


def _equal(first: object, second: object) -> bool:
    if type(first) is str and type(second) is str:
        return first == second or (
            not first.isascii() and not second.isascii() and normal(first) == normal(second)
        )
    kind, other = _comparable_kind(first), _comparable_kind(second)
    if kind != other and not {kind, other} <= _NUMBERS:
        if _is_nothing(first) or _is_nothing(second):
            return False
        raise _incompatible(first, second)
    return first == second if kind else _equal_composites(first, second)


def _equal_composites(first: object, second: object) -> bool:
    """Compare values that have no order; apart from nil, only structs can be equal."""
    types = [go_type.kind for go_type in map(type_of, (first, second)) if go_type is not None]
    if len(set(types)) > 1:
        raise FunctionError(
            "non-comparable types "
            + _shown("%s: %v, %s: %v", first, _type_name(first), _type_name(second), second)
        )
    if _is_nil(first) or _is_nil(second):
        return _is_nil(first) == _is_nil(second)
    if not _is_comparable(second):
        raise FunctionError("non-comparable type " + _shown("%s: %v", second, _type_name(second)))
    return first is second or (
        isinstance(first, GoStruct)
        and isinstance(second, GoStruct)
        and not first.pointer
        and first.type == second.type
        and first.fields == second.fields
        and first.hidden == second.hidden
    )


def _shown(format_: str, *values: object) -> str:
    return sprintf(format_, values, Budget(DEFAULT_LIMITS))


def _is_comparable(value: object) -> bool:
    if isinstance(value, dict | list):
        return False
    if isinstance(value, GoStruct) and not value.pointer:
        return all(map(_is_comparable, (*value.fields.values(), *value.hidden.values())))
    return isinstance(value, GoStruct | str | int | float | complex) or value is None


def _is_nothing(value: object) -> bool:
    return value is None or value is NO_VALUE


def _is_nil(value: object) -> bool:
    return _is_nothing(value) or getattr(value, "nil", False) is True


def _type_name(value: object) -> str:
    go_type: Type | None = type_of(value)
    return go_type.name if go_type else "<nil>"


def _incompatible(first: object, second: object) -> FunctionError:
    return FunctionError(
        f"incompatible types for comparison: {_type_name(first)} and {_type_name(second)}"
    )


# Elements of maps, slices and strings


def length(value: object) -> int:
    """Go's `len`: bytes of a string, elements of a slice or map."""
    if isinstance(value, str):
        return byte_length(value)
    if isinstance(value, dict | list):
        return len(value)
    if value is None:
        raise FunctionError("len of nil pointer")
    if value is NO_VALUE:
        raise FunctionError("reflect: call of reflect.Value.Type on zero Value")
    raise FunctionError(f"len of type {_item_type(value)}")


def index(value: object, *keys: object) -> object:
    """Return `x[1][2]` for `index x 1 2`; the zero value if a map has no such key."""
    if value is None or value is NO_VALUE:
        raise FunctionError("index of untyped nil")
    for key in keys:
        if type(key) is str and isinstance(value, dict) and key in value:  # nearly always
            value = value[key]
        elif value is None:
            raise FunctionError("index of nil pointer")
        elif isinstance(value, dict):
            value = _map_entry(value, key)
        elif isinstance(value, list):
            place = _place(key, len(value))
            if place == len(value):
                raise FunctionError("reflect: slice index out of range")
            value = value[place]
        elif isinstance(value, str):
            value = _byte(value, key)
        else:
            raise FunctionError(f"can't index item of type {_item_type(value)}")
    return value


def slice_(value: object, *indexes: object) -> object:
    """Return `x[1:2]` for `slice x 1 2`; strings are sliced by bytes."""
    if value is None or value is NO_VALUE:
        raise FunctionError("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionError(f"too many slice indexes: {len(indexes)}")
    if not isinstance(value, str | list):
        raise FunctionError(f"can't slice item of type {_item_type(value)}")
    if isinstance(value, str) and len(indexes) == 3:
        raise FunctionError("cannot 3-index slice a string")
    data = to_bytes(value) if isinstance(value, str) else value
    places = [_place(place, len(data)) for place in indexes]
    start, end, capacity = [*places, *(0, len(data), len(data))[len(places) :]]
    if start > end:
        raise FunctionError(f"invalid slice index: {start} > {end}")
    if end > capacity:
        raise FunctionError(f"invalid slice index: {end} > {capacity}")
    if isinstance(data, bytes):
        return from_bytes(data[start:end])
    return GoSlice(data.type, data[start:end]) if isinstance(data, GoSlice) else data[start:end]


def _map_entry(mapping: dict[object, object], key: object) -> object:
    go_type = mapping.type if isinstance(mapping, GoMap) else None
    wanted = go_type.key if go_type and go_type.key else STRING
    if wanted.kind == "interface":
        map_key = _same_key(mapping, None if key is NO_VALUE else key)
    elif key is None or key is NO_VALUE:
        raise FunctionError(f"value is nil; should be of type {wanted}")
    else:
        map_key = _key_of_type(key, wanted)
    if map_key in mapping:
        return mapping[map_key]
    return zero(go_type.elem if go_type and go_type.elem else ANY)


def _key_of_type(key: object, wanted: Type) -> object:
    """Return `key` if its type fits; integer types of all widths are interchangeable."""
    name = _item_type(key)
    integers = isinstance(key, int) and not isinstance(key, bool)
    if name == wanted.name or (integers and wanted.kind.startswith(("int", "uint"))):
        return key
    raise FunctionError(f"value has type {name}; should be {wanted}")


def _same_key(mapping: dict[object, object], key: object) -> object:
    """Return the map's own key that equals `key` in Go, where 1, 1.0 and true are three keys.

    Return `NO_VALUE` if there is none.
    """
    if isinstance(key, dict | list):
        raise FunctionError(f"runtime error: hash of unhashable type {_item_type(key)}")
    if isinstance(key, str):
        return key
    go_type = type_of(key)
    for own in mapping:
        if type_of(own) == go_type and plain_key(own) == key:
            return own
    return NO_VALUE


def _byte(text: str, key: object) -> GoInt:
    data = to_bytes(text)
    place = _place(key, len(data))
    if place == len(data):
        raise FunctionError("reflect: string index out of range")
    return GoInt(UINT8, data[place])


def _place(key: object, size: int) -> int:
    """Return the index, from 0 to `size`; raise `FunctionError` for others."""
    if key is None or key is NO_VALUE:
        raise FunctionError("cannot index slice/array with nil")
    if isinstance(key, bool) or not isinstance(key, int):
        raise FunctionError(f"cannot index slice/array with type {_item_type(key)}")
    place = int(key) - (key >= 1 << 63) * (1 << 64)  # Go reads a uint64 as an int64
    if not 0 <= place <= size:
        raise FunctionError(f"index out of range: {place}")
    return place


def _item_type(value: object) -> str:
    if isinstance(value, GoStruct):
        return value.type.name
    return str(type_of(value))


# Escapes for other languages

_HTML = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_JS = {"\\": r"\\", "'": r"\'", '"': r"\""}
_JS_SPECIAL = re.compile("[\\\\'\"<>&=\0-\x1f]|[^\0-\x7f]")


def escape_html(text: str) -> str:
    """Go's `template.HTMLEscapeString`."""
    return text.translate(_HTML)


def escape_js(text: str) -> str:
    """Go's `template.JSEscapeString`: also escape Unicode characters that are not printable."""
    return _JS_SPECIAL.sub(_escape_js, normal(text))


def _escape_js(match: re.Match[str]) -> str:
    rune = match.group()
    if rune in _JS:
        return _JS[rune]
    if rune >= "\x80" and ("\udc80" <= rune <= "\udcff" or is_print(rune)):
        return rune
    return f"\\u{ord(rune):04X}"


def escape_query(text: str) -> str:
    """Go's `url.QueryEscape`."""
    return quote_plus(to_bytes(text), safe="")


# Printed values

_TEXTS = ("Error", "String")
"""Methods that return a value's text."""


def display(value: object, budget: Budget) -> str:
    """Return a value as an action prints it."""
    if isinstance(value, str):
        return value
    if value is NO_VALUE or value is None:
        return "<no value>"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return format_float(value, "g")
    text = sprint((_printable(value),), budget)
    budget.spend(len(text), "the printed text")
    return text


def _printable(value: object) -> object:
    """Return the value that an action prints; for a pointer, that is its target."""
    if value is None or value is NO_VALUE:
        return "<no value>"
    if isinstance(value, GoStruct) and value.pointer and value.methods.keys().isdisjoint(_TEXTS):
        return GoStruct(value.type, value.fields, value.methods, hidden=value.hidden)
    return value


def _print(budget: Budget, *values: object) -> str:
    _reserve(budget, "print", values)
    return sprint(values, budget)


def _println(budget: Budget, *values: object) -> str:
    _reserve(budget, "println", values)
    return sprintln(values, budget)


def _printf(budget: Budget, format_: str, *values: object) -> str:
    _reserve(budget, "printf", values, len(format_))
    return sprintf(format_, values, budget)


def _reserve(budget: Budget, name: str, values: Sequence[object], size: int = 0) -> None:
    for value in values:  # takes half the time of a sum
        if isinstance(value, str):
            size += len(value)
    budget.reserve(size, name)


def _escaper(name: str, escape: Callable[[str], str]) -> Callable[..., str]:
    def call(budget: Budget, *values: object) -> str:
        text = _print(budget, *map(_printable, values))
        escaped = escape(text)
        budget.reserve(len(escaped), name)
        return escaped

    return call


# The functions by name


def _not(value: object) -> bool:
    return not value


def _special(*_: object) -> object:
    raise AssertionError("`calls` compiles this function specially")


def _on_values(
    name: str, call: Callable[..., object], fixed: int, result: Type, *, variadic: bool = False
) -> Function:
    """Declare a function that takes values of every type unchanged."""
    parameters = (REFLECT_VALUE,) * (fixed + variadic)
    return Function(name, call, parameters, variadic, result)


def _on_any(name: str, call: Callable[..., object], *fixed: Type, cost: int = 1) -> Function:
    """Declare a function that turns any number of values into one text."""
    parameters = (*fixed, ANY)
    return Function(
        name, call, parameters, variadic=True, result=STRING, takes_budget=True, cost=cost
    )


AND = _on_values("and", _special, 1, REFLECT_VALUE, variadic=True)
OR = _on_values("or", _special, 1, REFLECT_VALUE, variadic=True)
CALL = _on_values("call", _special, 1, REFLECT_VALUE, variadic=True)

BUILTINS: Mapping[str, Function] = {
    function.name: function
    for function in (
        AND,
        OR,
        CALL,
        _on_values("not", _not, 1, BOOL),
        _on_values("len", length, 1, INT),
        _on_values("index", index, 1, REFLECT_VALUE, variadic=True),
        _on_values("slice", slice_, 1, REFLECT_VALUE, variadic=True),
        _on_values("eq", eq, 1, BOOL, variadic=True),
        _on_values("ne", ne, 2, BOOL),
        _on_values("lt", lt, 2, BOOL),
        _on_values("le", le, 2, BOOL),
        _on_values("gt", gt, 2, BOOL),
        _on_values("ge", ge, 2, BOOL),
        _on_any("print", _print),
        _on_any("println", _println),
        _on_any("printf", _printf, STRING),
        _on_any("html", _escaper("html", escape_html), cost=4),
        _on_any("js", _escaper("js", escape_js), cost=16),
        _on_any("urlquery", _escaper("urlquery", escape_query), cost=4),
    )
}
"""Go's functions by name."""
