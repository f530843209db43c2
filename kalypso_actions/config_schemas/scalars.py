"""The keywords for a number or a text → violations, in upstream's words."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.config_schemas import formats
from kalypso_actions.config_schemas.numbers import Number, big_float_text
from kalypso_actions.config_schemas.schema import Schema


def number_violations(schema: Schema, number: Number) -> Iterator[str]:
    """Check bounds, multiples, and `format`, which no number matches."""
    value = number.value
    if schema.multiple_of is not None and value % schema.multiple_of != 0:
        yield f"Must be a multiple of {big_float_text(schema.multiple_of)}"
    if schema.maximum is not None and value > schema.maximum:
        yield f"Must be less than or equal to {big_float_text(schema.maximum)}"
    if schema.exclusive_maximum is not None and value >= schema.exclusive_maximum:
        yield f"Must be less than {big_float_text(schema.exclusive_maximum)}"
    if schema.minimum is not None and value < schema.minimum:
        yield f"Must be greater than or equal to {big_float_text(schema.minimum)}"
    if schema.exclusive_minimum is not None and value <= schema.exclusive_minimum:
        yield f"Must be greater than {big_float_text(schema.exclusive_minimum)}"
    if schema.format in formats.CHECKS:
        yield f"Does not match format '{schema.format}'"


def text_violations(schema: Schema, text: str) -> Iterator[str]:
    """Check the length in characters, `pattern` and `format`."""
    if schema.min_length is not None and len(text) < schema.min_length:
        yield f"String length must be greater than or equal to {schema.min_length}"
    if schema.max_length is not None and len(text) > schema.max_length:
        yield f"String length must be less than or equal to {schema.max_length}"
    if schema.pattern is not None and not schema.pattern.matches(text):
        yield f"Does not match pattern '{schema.pattern.text}'"
    if schema.format in formats.CHECKS and not formats.CHECKS[schema.format](text):
        yield f"Does not match format '{schema.format}'"
