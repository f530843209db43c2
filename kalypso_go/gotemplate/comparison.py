"""`eq ne lt le gt ge`: which values can be compared, and how."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget
from kalypso_go.gotemplate.printf import sprintf
from kalypso_go.gotemplate.text import normal, to_bytes
from kalypso_go.gotemplate.values import NO_VALUE, FunctionError, GoStruct, Type, type_of

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
    kind, other = _kind(first), _kind(second)
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


def _kind(value: object) -> str:
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
    kind, other = _kind(first), _kind(second)
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
