r"""A compiled schema, and its regular expressions.

Schemas may refer to each other in circles, so the compiler creates each one empty and then fills
it; later code only reads it. Regular expressions are RE2's: linear time, no backreferences. Go's
own library differs in `\C`, names of groups beyond ASCII, and `\B` inside a character.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache

import re2

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_go.gotemplate.text import to_bytes


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


CACHED_LENGTH = 256

_QUICK = 128
"""RE2 executes this many instructions in the time of one step of an evaluation."""


class PatternError(ValueError):
    """A text is not a regular expression of RE2."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Compile; raise `PatternError`, or `SchemaError` if the pattern takes too much memory."""
        self.text = text
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(to_bytes(text), options)
        except re2.error as error:
            if b"too large" in error.args[0]:
                raise SchemaError(
                    f"pattern {text[:100]} is too large: lower the counts of its repetitions"
                ) from error
            raise PatternError(text) from error

    @property
    def size(self) -> int:
        """The number of instructions, of a few bytes each."""
        size: int = self._compiled.programsize
        return size

    def steps(self, text: str) -> int:
        """Return how many steps of an evaluation to count for a search in the text.

        RE2 may need all instructions for each byte.
        """
        return 1 + self.size * (len(text) if text.isascii() else len(to_bytes(text))) // _QUICK

    def matches(self, text: str) -> bool:
        """Return whether any part of the text matches."""
        return self._compiled.search(to_bytes(text)) is not None


def is_regex(text: str) -> bool:
    """Return whether a text is a regular expression of RE2, of any size."""
    return _cached_is_regex(text) if len(text) <= CACHED_LENGTH else _is_regex(text)


def _is_regex(text: str) -> bool:
    try:
        Pattern(text)
    except PatternError:
        return False
    except SchemaError:
        return True
    return True


_cached_is_regex = lru_cache(maxsize=128)(_is_regex)
