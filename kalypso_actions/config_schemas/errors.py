"""What ends the work on a schema, and how far a schema or a value may go."""

from __future__ import annotations

MAX_SCHEMA_LENGTH = 1 << 20
"""Characters of a schema; Kubernetes stores no larger object either."""

MAX_NESTING = 100
"""Levels of brackets in a schema or a value, and of schemas applied inside each other."""

MAX_SUBSCHEMAS = 50_000
"""Schemas inside one schema, each `$ref` target counted with its content."""

MAX_REFERENCE_LENGTH = 2048
"""Characters of a `$ref` or `$id`, also once it is absolute."""

MAX_PATTERNS = 256
"""Regular expressions in one schema: each may need several megabytes."""

MAX_PATTERN_SIZE = 1_000_000
"""Instructions of all regular expressions in one schema (half a second to compile)."""

MAX_NUMBER_DIGITS = 400
"""Digits of a number on either side of its point; a float64 needs 341."""

MAX_STEPS = 1_000_000
"""How often a schema or a part of it may be applied to one configuration (a few seconds)."""

MAX_VIOLATIONS_LENGTH = 1 << 24
"""Characters of all violations met on the way, those of branches that are not reported too."""

MAX_CONFIG_VALUES = 200_000
"""Values of one configuration, the nested ones included."""


class SchemaError(Exception):
    """A schema cannot be used; the message is upstream's, or names what is too much."""


class UnsupportedValueError(Exception):
    """A configuration cannot be written as JSON; the message is upstream's."""
