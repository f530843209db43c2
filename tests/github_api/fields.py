"""Fields that a description does not know.

GitHub's schemas leave objects open, so a validator accepts any further field. This module takes a
field as known if any of the alternatives names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Json = Any


def unknown(
    value: Json, schemas: Sequence[Json], document: Json, place: str = "$"
) -> Iterator[str]:
    """Return the place of each field that no schema names."""
    if not isinstance(value, list | dict):
        return
    parts = [part for schema in schemas for part in _parts(schema, document)]
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        for index, item in enumerate(value):
            yield from unknown(item, items, document, f"{place}[{index}]")
    else:
        objects = [part for part in parts if _describes_an_object(part)]
        if all(map(_names_its_fields, objects)) and objects:
            for name, content in value.items():
                inner = [part["properties"][name] for part in objects if name in part["properties"]]
                if inner:
                    yield from unknown(content, inner, document, f"{place}.{name}")
                else:
                    yield f"{place}.{name}"


def _parts(schema: Json, document: Json) -> Iterator[Json]:
    """Yield the schema itself, or the parts that it combines."""
    if "$ref" in schema:
        target = document
        for word in schema["$ref"].removeprefix("#/").split("/"):
            target = target[word]
        yield from _parts(target, document)
        return
    combined = (*schema.get("allOf", ()), *schema.get("anyOf", ()))
    if not combined or "properties" in schema:
        yield schema
    for part in combined:
        yield from _parts(part, document)


def _describes_an_object(part: Json) -> bool:
    types = part.get("type", ())
    return "object" in ((types,) if isinstance(types, str) else types) or "properties" in part


def _names_its_fields(part: Json) -> bool:
    return "properties" in part and not part.get("additionalProperties")
