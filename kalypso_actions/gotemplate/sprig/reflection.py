"""Types and kinds of values, by name."""

from __future__ import annotations

from kalypso_actions.gotemplate.sprig.nesting import kind_of
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.values import ANY, BOOL, STRING, type_of


@function("typeOf", ANY, returns=STRING)
def type_of_(value: object) -> str:
    """The type as `printf "%T"` prints it."""
    known = type_of(value)
    return "<nil>" if known is None else known.name


@function("typeIs", STRING, ANY, returns=BOOL)
def type_is(name: str, value: object) -> bool:
    """Whether the type is the one named."""
    return type_of_(value) == name


@function("typeIsLike", STRING, ANY, returns=BOOL)
def type_is_like(name: str, value: object) -> bool:
    """Whether the type is the one named, or a pointer to it."""
    return type_of_(value) in (name, f"*{name}")


@function("kindOf", ANY, returns=STRING)
def kind_of_(value: object) -> str:
    """The kind, such as `string`, `map` or `slice`."""
    return kind_of(value)


@function("kindIs", STRING, ANY, returns=BOOL)
def kind_is(name: str, value: object) -> bool:
    """Whether the kind is the one named."""
    return kind_of(value) == name
