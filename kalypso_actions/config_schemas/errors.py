"""The errors of this package, and the limits of schemas and configurations."""

from __future__ import annotations

MAX_SCHEMA_LENGTH = 256 << 10
"""Characters of a schema. Compiling one of this length takes a third of a second, and fifty times
the space of its text."""

MAX_NESTING = 100
"""Levels of brackets in a schema or a value, and of schemas applied inside each other."""

MAX_SUBSCHEMAS = 50_000
"""Schemas inside one schema, including the content of each `$ref` target."""

MAX_REFERENCE_LENGTH = 2048
"""Characters of a `$ref` or `$id`, relative or absolute."""

MAX_PATTERNS = 256
"""Regular expressions in one schema: each may need several megabytes."""

MAX_PATTERN_SIZE = 1_000_000
"""Instructions of all regular expressions in one schema (half a second to compile)."""

MAX_NUMBER_DIGITS = 400
"""Digits of a number before or after its point; a float64 needs 341."""

MAX_STEPS = 1_000_000
"""Applications of schemas or their parts to one configuration (two seconds)."""

MAX_VIOLATIONS_LENGTH = 1 << 24
"""Characters of all violations, including those in branches that are not reported."""

MAX_CONFIG_VALUES = 200_000
"""Values of one configuration, including nested ones."""


class SchemaError(Exception):
    """A schema is broken or exceeds a limit; the message is upstream's, or names the limit.

    `path` leads to the faulty keyword or schema inside the whole schema, as far as it is known.
    """

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


class UnsupportedValueError(Exception):
    """A configuration has no JSON form; the message is upstream's."""
