"""`len`, `index` and `slice` of maps, slices and strings."""

from __future__ import annotations

from kalypso_go.gotemplate.text import byte_length, from_bytes, to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    NO_VALUE,
    STRING,
    UINT8,
    FunctionError,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    Type,
    plain_key,
    type_of,
)


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
    raise FunctionError(f"len of type {_name(value)}")


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
            raise FunctionError(f"can't index item of type {_name(value)}")
    return value


def slice_(value: object, *indexes: object) -> object:
    """Return `x[1:2]` for `slice x 1 2`; strings are sliced by bytes."""
    if value is None or value is NO_VALUE:
        raise FunctionError("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionError(f"too many slice indexes: {len(indexes)}")
    if not isinstance(value, str | list):
        raise FunctionError(f"can't slice item of type {_name(value)}")
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


def zero(type_: Type) -> object:
    """Return the zero value of a type."""
    if type_.kind == "string":
        return ""
    if type_.kind == "bool":
        return False
    if type_.kind.startswith(("int", "uint")) and type_.kind != "interface":
        return 0 if type_.name == "int" else GoInt(type_, 0)
    if type_.kind == "map":
        return GoMap(type_, nil=True)
    if type_.kind == "slice":
        return GoSlice(type_, nil=True)
    return {"float64": 0.0, "complex128": 0j}.get(type_.kind)


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
    name = _name(key)
    integers = isinstance(key, int) and not isinstance(key, bool)
    if name == wanted.name or (integers and wanted.kind.startswith(("int", "uint"))):
        return key
    raise FunctionError(f"value has type {name}; should be {wanted}")


def _same_key(mapping: dict[object, object], key: object) -> object:
    """Return the map's own key that equals `key` in Go, where 1, 1.0 and true are three keys.

    Return `NO_VALUE` if there is none.
    """
    if isinstance(key, dict | list):
        raise FunctionError(f"runtime error: hash of unhashable type {_name(key)}")
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
        raise FunctionError(f"cannot index slice/array with type {_name(key)}")
    place = int(key) - (key >= 1 << 63) * (1 << 64)  # Go reads a uint64 as an int64
    if not 0 <= place <= size:
        raise FunctionError(f"index out of range: {place}")
    return place


def _name(value: object) -> str:
    if isinstance(value, GoStruct):
        return value.type.name
    return str(type_of(value))
