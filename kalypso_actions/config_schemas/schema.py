"""A compiled schema: the values of its keywords, checked and ready to apply.

Schemas may refer to each other in circles, so the compiler creates each one empty and then fills
it; later code only reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from kalypso_actions.config_schemas.patterns import Pattern


class Draft(IntEnum):
    """The version of JSON Schema; HYBRID mixes all of them, if `$schema` names none."""

    DRAFT4 = 4
    DRAFT6 = 6
    DRAFT7 = 7
    HYBRID = 1000


@dataclass(slots=True, eq=False)
class Schema:
    """One schema; an absent keyword is None or an empty collection."""

    draft: Draft

    always: bool | None = None
    """The value of a schema that is just `true` or `false`."""
    target: Schema | None = None
    """The schema that `$ref` names; it replaces all keywords."""

    takes_texts: bool = False
    """Whether every text is valid: `types` is the only keyword that checks anything."""
    types: tuple[str, ...] = ()
    enum: frozenset[str] = frozenset()
    enum_text: str = ""
    const: str | None = None

    multiple_of: int | Fraction | None = None
    minimum: int | Fraction | None = None
    exclusive_minimum: int | Fraction | None = None
    maximum: int | Fraction | None = None
    exclusive_maximum: int | Fraction | None = None

    min_length: int | None = None
    max_length: int | None = None
    pattern: Pattern | None = None
    format: str = ""

    min_properties: int | None = None
    max_properties: int | None = None
    required: tuple[str, ...] = ()
    properties: dict[str, Schema] = field(default_factory=dict)
    pattern_properties: list[tuple[Pattern, Schema]] = field(default_factory=list)
    additional_properties: bool | Schema | None = None
    property_names: Schema | None = None
    dependencies: dict[str, tuple[str, ...] | Schema] = field(default_factory=dict)

    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    items: Schema | list[Schema] | None = None
    """One schema for all items, or one for each index."""
    additional_items: bool | Schema | None = None
    contains: Schema | None = None

    any_of: list[Schema] = field(default_factory=list)
    one_of: list[Schema] = field(default_factory=list)
    all_of: list[Schema] = field(default_factory=list)
    not_: Schema | None = None
    if_: Schema | None = None
    then: Schema | None = None
    else_: Schema | None = None
