"""The Go types and values that a template can use.

Python's own values represent Go's where possible:

    Go                       Python
    nil                      None
    string                   str (a byte that is not UTF-8 is a surrogate escape, as in os.fsdecode)
    bool, int, float64       bool, int, float
    map[string]interface {}  dict (or GoMap)
    []interface {}           list (or GoSlice)

Values of other types carry their type: `GoInt` (int64, uint64, uint8, int32 …), `GoMap`, `GoSlice`
and `GoStruct`. All but `GoStruct` are subclasses of Python's types, so most functions need not
distinguish them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kalypso_go.gotemplate.text import to_bytes


@dataclass(frozen=True, slots=True)
class Type:
    """A Go type: `kind` as `reflect.Kind` prints it, `name` as `%T` prints it.

    `has_names` means that names can be keys of a map, so that `.Name` can index it.
    """

    kind: str
    name: str
    elem: Type | None = None
    key: Type | None = None
    has_names: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Derive `has_names`."""
        has_names = self.key is not None and self.key.name in {"string", "interface {}"}
        object.__setattr__(self, "has_names", has_names)

    def __str__(self) -> str:
        return self.name


STRING = Type("string", "string")
BOOL = Type("bool", "bool")
INT = Type("int", "int")
INT32 = Type("int32", "int32")
INT64 = Type("int64", "int64")
UINT8 = Type("uint8", "uint8")
UINT32 = Type("uint32", "uint32")

UINT64 = Type("uint64", "uint64")
FLOAT64 = Type("float64", "float64")
COMPLEX128 = Type("complex128", "complex128")
ANY = Type("interface", "interface {}")

REFLECT_VALUE = Type("struct", "reflect.Value")
"""A parameter of this type takes any value unchanged, including `NO_VALUE`."""


def slice_of(elem: Type) -> Type:
    """`[]elem`."""
    return Type("slice", f"[]{elem.name}", elem=elem)


def map_of(key: Type, elem: Type) -> Type:
    """`map[key]elem`."""
    return Type("map", f"map[{key.name}]{elem.name}", elem=elem, key=key)


ANY_SLICE = slice_of(ANY)
STRING_SLICE = slice_of(STRING)
INT_SLICE = slice_of(INT)
ANY_MAP = map_of(STRING, ANY)
STRING_MAP = map_of(STRING, STRING)
YAML_MAP = map_of(ANY, ANY)
"""The type of mappings that yaml.v2 decodes: `map[interface {}]interface {}`."""


def pointer_to(elem: Type) -> Type:
    """`*elem`."""
    return Type("ptr", f"*{elem.name}", elem=elem)


class NoValue:
    """Go's zero `reflect.Value`, the value of a missing key; nil is `None`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"

    def __bool__(self) -> bool:
        return False


NO_VALUE = NoValue()


class GoInt(int):
    """An integer of another type than `int`, with the methods of that type."""

    type: Type
    methods: Mapping[str, Function]

    def __new__(
        cls, type_: Type, value: int, methods: Mapping[str, Function] | None = None
    ) -> GoInt:
        """Create the integer; the caller has wrapped `value` to the type's width."""
        integer = super().__new__(cls, value)
        integer.type = type_
        integer.methods = methods or {}
        return integer


Results = dict[object, tuple[object, int]]
"""The result of each call, and its work."""


class GoMap(dict[object, object]):
    """A map that knows its Go type; `nil` tells a nil map from an empty one.

    `results` keeps the results of calls; None stands for a map that templates may change.
    """

    __slots__ = ("nil", "results", "type")

    def __init__(
        self,
        type_: Type,
        items: Mapping[str, object]
        | Mapping[object, object]
        | Iterable[tuple[object, object]] = (),
        *,
        nil: bool = False,
    ) -> None:
        super().__init__(items)  # type: ignore[arg-type]  # a Mapping has keys() and [] as well
        self.type = type_
        self.nil = nil
        self.results: Results | None = None


def keep_results(value: object) -> None:
    """Let calls keep their results for the maps in a value, because no template changes them.

    Executions that share the value must have the same limits.
    """
    if isinstance(value, GoMap):
        value.results = {}
    if isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            if type(inner) is not str:
                keep_results(inner)


class GoSlice(list[object]):
    """A slice that knows its Go type; `nil` tells a nil slice from an empty one."""

    __slots__ = ("nil", "type")

    def __init__(self, type_: Type, items: Iterable[object] = (), *, nil: bool = False) -> None:
        super().__init__(items)
        self.type = type_
        self.nil = nil


class GoStruct:
    """A struct, or with `pointer` a pointer to one.

    `fields` holds the exported fields in order of declaration, `hidden` the others, which templates
    can only print. As in Go, no method has the name of a field. The `call` of each method is bound
    to this value and receives only the arguments. A method `String` or `Error` returns the printed
    text.
    """

    __slots__ = ("fields", "hidden", "methods", "pointer", "type")

    def __init__(
        self,
        type_: Type,
        fields: Mapping[str, object],
        methods: Mapping[str, Function] | None = None,
        *,
        pointer: bool = False,
        hidden: Mapping[str, object] | None = None,
    ) -> None:
        self.type = type_
        self.fields = dict(fields)
        self.hidden = dict(hidden or {})
        self.methods = dict(methods or {})
        self.pointer = pointer

    def pointed_to(self) -> GoStruct:
        """Return the struct behind a pointer, without the methods that only the pointer has."""
        return GoStruct(self.type, self.fields, hidden=self.hidden)


def type_of(value: object) -> Type | None:
    """Go's `reflect.TypeOf`: the type of a value, None for nil and for other Python values."""
    go_type = _TYPES.get(type(value))
    if go_type is not None:
        return go_type
    if isinstance(value, GoInt | GoMap | GoSlice):
        return value.type
    if isinstance(value, GoStruct):
        return pointer_to(value.type) if value.pointer else value.type
    if isinstance(value, Function):
        return value.type
    return next((type_ for base, type_ in _TYPES.items() if isinstance(value, base)), None)


_TYPES: dict[type, Type] = {
    str: STRING,
    bool: BOOL,
    int: INT,
    float: FLOAT64,
    complex: COMPLEX128,
    dict: ANY_MAP,
    list: ANY_SLICE,
}


def plain_key(key: object) -> object:
    """Return a map's key as templates see it.

    In Go, 1, 1.0 and true are three keys. A Python map that holds several of them has keys of
    subclasses of `int` and `float`, which equal only their own kind.
    """
    if type(key) in _TYPES or key is None or isinstance(key, GoInt):
        return key
    if isinstance(key, int):
        return int(key)
    return float(key) if isinstance(key, float) else key


class FunctionError(Exception):
    """The error or panic of a Go function; the engine adds the position."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that templates can call, with its Go signature.

    The engine checks and converts arguments by `parameters` exactly as Go's `text/template`
    does; a `variadic` function takes any number of its last parameter's type. `call` receives the
    arguments and raises `FunctionError`. With `takes_budget`, a `Budget` precedes the arguments; a
    function whose result can be much larger than its arguments asks it before building the result.
    `cost` is the work for each character of the arguments, measured by tests/hostile.
    `unusable` is the reason why templates cannot call the function at all; "" if they can.
    `changes_arguments` means that the call may change its arguments or their contents.
    """

    name: str
    call: Callable[..., object]
    parameters: tuple[Type, ...] = ()
    variadic: bool = False
    result: Type = ANY
    takes_budget: bool = False
    unusable: str = ""
    cost: int = 1
    changes_arguments: bool = False

    @property
    def type(self) -> Type:
        """`func(…) …`, as `%T` prints it."""
        parameters = [parameter.name for parameter in self.parameters]
        if self.variadic:
            parameters[-1] = f"...{parameters[-1]}"
        return Type("func", f"func({', '.join(parameters)}) {self.result.name}")


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


# Go orders keys of different types by the memory addresses of the types, so the order depends on
# the build; this is the order observed with upstream's libraries.
_KEY_TYPES = ("string", "int64", "uint64", "int", "float64", "bool")


def sorted_keys(value: dict[object, object]) -> list[object]:
    """Return the keys of a map in order: nil, then type by type; strings by their bytes."""
    if set(map(type, value)) != {str}:
        return sorted(value, key=_sort_key)
    keys: list[Any] = list(value)
    keys.sort(key=None if "".join(keys).isascii() else to_bytes)
    return keys


def _sort_key(key: object) -> tuple[object, ...]:
    go_type = type_of(key)
    if go_type is None:
        return (-2,)
    name = go_type.name
    place = _KEY_TYPES.index(name) if name in _KEY_TYPES else len(_KEY_TYPES)
    if isinstance(key, str):
        return (place, name, to_bytes(key))
    if isinstance(key, float) and math.isnan(key):
        return (place, name, -math.inf)
    return (place, name, key)
