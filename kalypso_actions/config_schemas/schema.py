"""A compiled schema: what its keywords ask, ready to be applied.

The compiler makes each object empty and fills it, because schemas refer to each other in circles;
afterwards nobody changes one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from kalypso_actions.config_schemas.numbers import big_float_text
from kalypso_actions.config_schemas.patterns import Pattern


class Draft(IntEnum):
    """The version of JSON Schema; without `$schema` it is a mixture of all of them."""

    DRAFT4 = 4
    DRAFT6 = 6
    DRAFT7 = 7
    HYBRID = 1000


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that others are compared with, and its text in messages."""

    value: int | Fraction
    text: str

    @staticmethod
    def of(value: int | Fraction) -> Bound:
        """The bound with Go's text for it."""
        return Bound(value, big_float_text(value))


@dataclass(slots=True, eq=False)
class Schema:
    """One schema; None or an empty collection where a keyword is absent."""

    draft: Draft

    verdict: bool | None = None
    """What a schema that is just `true` or `false` says."""
    target: Schema | None = None
    """What `$ref` names: it alone counts then."""

    types: tuple[str, ...] = ()
    enum: frozenset[str] = frozenset()
    enum_text: str = ""
    const: str | None = None

    multiple_of: Bound | None = None
    minimum: Bound | None = None
    exclusive_minimum: Bound | None = None
    maximum: Bound | None = None
    exclusive_maximum: Bound | None = None

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
    """One schema for all items, or one for each place."""
    additional_items: bool | Schema | None = None
    contains: Schema | None = None

    any_of: list[Schema] = field(default_factory=list)
    one_of: list[Schema] = field(default_factory=list)
    all_of: list[Schema] = field(default_factory=list)
    not_: Schema | None = None
    if_: Schema | None = None
    then: Schema | None = None
    else_: Schema | None = None
