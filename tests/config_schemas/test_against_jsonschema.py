"""An independent implementation accepts the same values.

The schemas avoid what upstream's validator treats differently: formats, empty lists of schemas or
values, `items: []`, and numbers beyond float64. They also avoid a boolean `items` beside
`additionalItems`, for which jsonschema raises a TypeError.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from kalypso_actions.config_schemas import validate

NAMES = st.sampled_from(["a", "b", "ab", "c1"])
WORDS = st.sampled_from(["", "a", "ab", "abc", "x1"])
NUMBERS = st.integers(-6, 6) | st.sampled_from([0.5, 1.5, -2.25, 3.0])
SCALARS = st.none() | st.booleans() | NUMBERS | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
TYPES = ["array", "boolean", "integer", "number", "null", "object", "string"]
COUNTS = st.integers(0, 3)
PATTERNS = st.sampled_from(["^a", "b$", "[0-9]", "^$", "a|x"])

ASSERTIONS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
    "enum": st.lists(
        VALUES, min_size=1, max_size=3, unique_by=lambda v: json.dumps(v, sort_keys=True)
    ),
    "const": VALUES,
    "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "minLength": st.just(1),
    "maxLength": st.integers(1, 3),
    "pattern": PATTERNS,
    "minItems": st.just(1),
    "maxItems": st.integers(1, 3),
    "uniqueItems": st.booleans(),
    "minProperties": st.just(1),
    "maxProperties": st.integers(1, 3),
    "required": st.lists(NAMES, unique=True, max_size=2),
}


def applicators(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return {
        **ASSERTIONS,
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependencies": st.dictionaries(NAMES, inner | st.lists(NAMES, unique=True), max_size=2),
        "items": inner | several,
        "additionalItems": inner,
        "contains": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }


def objects(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    schemas = chosen.flatmap(lambda names: st.fixed_dictionaries({n: keywords[n] for n in names}))
    return schemas.filter(lambda schema: not _is_beyond_jsonschema(schema))


def _is_beyond_jsonschema(schema: dict[str, Any]) -> bool:
    return "additionalItems" in schema and isinstance(schema.get("items"), bool)


SCHEMAS = st.recursive(
    st.booleans() | objects(ASSERTIONS),
    lambda inner: st.booleans() | objects(applicators(inner)),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_the_same_values_are_valid(schema: bool | dict[str, Any], value: object) -> None:
    # The list keeps a text from becoming a number.
    message = validate({"V": [value]}, [json.dumps({"properties": {"V": {"items": schema}}})])

    # 1 and 1.0 are equal: upstream rejects an enum that lists both.
    if "enum items must be unique" not in message:
        assert (message == "") == Draft7Validator(schema).is_valid(value)
