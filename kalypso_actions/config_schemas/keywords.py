"""Misspelled keywords of a schema, and those of drafts that the validator does not support.

A validator of JSON Schema ignores unknown keywords, so a misspelled keyword checks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.json_values import Json, decode
from kalypso_actions.model.nearest import misspelled

_SCHEMA: Final = (
    *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"),
    *("propertyNames", "then"),
)
_SCHEMAS: Final = ("allOf", "anyOf", "items", "oneOf")
_BY_NAME: Final = ("$defs", "definitions", "dependencies", "patternProperties", "properties")

KEYWORDS: Final = frozenset(
    {
        *(*_SCHEMA, *_SCHEMAS, *_BY_NAME, "const", "enum", "exclusiveMaximum", "exclusiveMinimum"),
        *("format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength"),
        *("minProperties", "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems"),
        *("$comment", "$id", "$ref", "$schema", "contentEncoding", "contentMediaType", "default"),
        *("description", "examples", "id", "readOnly", "title", "writeOnly", "deprecated"),
    }
)
"""The keywords of drafts 4, 6 and 7, including those that only describe."""

LATER: Final = frozenset(
    {
        *("$dynamicRef", "dependentRequired", "dependentSchemas", "maxContains", "minContains"),
        *("prefixItems", "unevaluatedItems", "unevaluatedProperties"),
    }
)
"""Keywords of later drafts, which upstream's validator ignores."""

SIMILAR: Final = 0.8


def unknown_keywords(text: str) -> Iterator[tuple[str, str]]:
    """Yield each unknown keyword of a schema, with advice if it is probably a mistake, else "".

    Keywords that begin with `x-` or `$` are notes of tools. A text that is not JSON yields nothing;
    the compiler reports it.
    """
    try:
        pending: list[Json] = [decode(text)]
    except SchemaError:
        return
    seen = set()
    while pending:
        schema = pending.pop()
        if not isinstance(schema, dict):
            continue
        for keyword in schema:
            is_known = keyword in KEYWORDS or keyword.startswith("x-")
            if not is_known and keyword not in seen:
                seen.add(keyword)
                advice = _advice(keyword)
                if advice or not keyword.startswith("$"):
                    yield keyword, advice
        pending += _inner(schema)


def properties(text: str) -> tuple[str, ...]:
    """Return the names in `properties` of a schema; () for a text that is not such JSON."""
    try:
        schema = decode(text)
    except SchemaError:
        return ()
    found = schema.get("properties") if isinstance(schema, dict) else None
    return tuple(found) if isinstance(found, dict) else ()


def _inner(schema: dict[str, Json]) -> Iterator[Json]:
    """Yield the schemas directly inside a schema."""
    for keyword, value in schema.items():
        if keyword in _SCHEMA:
            yield value
        if keyword in _SCHEMAS and isinstance(value, list):
            yield from value
        if keyword in _BY_NAME and isinstance(value, dict):
            yield from value.values()


def _advice(keyword: str) -> str:
    if keyword in LATER:
        return "it belongs to a later draft of JSON Schema; Kalypso supports drafts 4, 6 and 7"
    close = misspelled(keyword, KEYWORDS)
    close = close or next(iter(get_close_matches(keyword, KEYWORDS, n=1, cutoff=SIMILAR)), "")
    return f"did you mean {close}?" if close else ""
