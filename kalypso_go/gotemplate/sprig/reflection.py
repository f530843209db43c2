"""Types and kinds of values, by name."""

from __future__ import annotations

from kalypso_go.gotemplate.sprig.nesting import kind_of
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import ANY, BOOL, STRING, type_of


@function("typeOf", ANY, returns=STRING)
def type_of_(value: object) -> str:
    """Return the type as `printf "%T"` prints it."""
    go_type = type_of(value)
    return "<nil>" if go_type is None else go_type.name


@function("typeIs", STRING, ANY, returns=BOOL)
def type_is(name: str, value: object) -> bool:
    """Return whether the type has this name."""
    return type_of_(value) == name


@function("typeIsLike", STRING, ANY, returns=BOOL)
def type_is_like(name: str, value: object) -> bool:
    """Return whether the type, or the target of a pointer, has this name."""
    return type_of_(value) in (name, f"*{name}")


@function("kindOf", ANY, returns=STRING)
def kind_of_(value: object) -> str:
    """Return the kind, such as `string`, `map` or `slice`."""
    return kind_of(value)


@function("kindIs", STRING, ANY, returns=BOOL)
def kind_is(name: str, value: object) -> bool:
    """Return whether the kind has this name."""
    return kind_of(value) == name
