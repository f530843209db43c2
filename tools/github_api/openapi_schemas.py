"""Convert an OpenAPI 3.0 description to OpenAPI 3.1 (JSON Schema), without its texts.

Names, types, enumerations, formats, limits, `required` and `nullable` stay. Descriptions,
summaries, titles and examples go. Any other keyword is an error, so that no fact is lost silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

Json = Any

KEPT: Final = {
    "additionalProperties", "allOf", "anyOf", "enum", "format", "items", "maxItems", "maxLength",
    "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "oneOf",
    "pattern", "properties", "required", "type", "uniqueItems",
}  # fmt: skip
LEFT_OUT: Final = {
    "default", "deprecated", "description", "discriminator", "example", "examples",
    "externalDocs", "readOnly", "title", "writeOnly",
}  # fmt: skip

SCHEMAS: Final = "#/components/schemas/"


def schema(source: Json) -> Json:
    """Return the facts of one schema.

    `nullable` becomes the type `null`. `oneOf` becomes `anyOf`: GitHub's alternatives overlap (one
    object can match two alternatives without required fields).
    """
    if not isinstance(source, dict):
        return source
    if "$ref" in source:
        return {"$ref": source["$ref"]}
    facts: dict[str, Json] = {}
    for word, value in source.items():
        if word in {"oneOf", "anyOf"}:
            facts["anyOf"] = facts.get("anyOf", []) + [schema(member) for member in value]
        elif word == "allOf":
            facts[word] = [schema(member) for member in value]
        elif word in {"items", "additionalProperties"}:
            facts[word] = schema(value)
        elif word == "properties":
            facts[word] = {name: schema(member) for name, member in value.items()}
        elif word in KEPT:
            facts[word] = value
        elif word not in LEFT_OUT and word != "nullable" and not word.startswith("x-"):
            raise ValueError(f"{word!r} is neither kept nor known to be left out")
    return _or_null(facts) if source.get("nullable") else facts


def _or_null(facts: dict[str, Json]) -> Json:
    if "type" not in facts:
        return {"anyOf": [{"type": "null"}, facts]}
    facts = {**facts, "type": [facts["type"], "null"]}
    if "enum" in facts and None not in facts["enum"]:
        facts["enum"] = [*facts["enum"], None]
    return facts


def operation(source: Json, document: Json) -> Json:
    """Return the facts of an operation: parameters, request body, and responses by status.

    Resolve references to parameters, headers and responses. Of several forms of a body, take JSON.
    """
    facts: dict[str, Json] = {
        "parameters": [
            {
                "name": parameter["name"],
                "in": parameter["in"],
                "required": parameter.get("required", False),
                "schema": schema(parameter["schema"]),
            }
            for parameter in map(_resolver(document), source.get("parameters", []))
        ],
        "responses": {
            status: _answer(_resolver(document)(answer), document)
            for status, answer in source["responses"].items()
        },
    }
    if "requestBody" in source:
        body = _resolver(document)(source["requestBody"])
        facts["requestBody"] = {"required": body.get("required", False), **_content(body)}
    return facts


def _answer(source: Json, document: Json) -> Json:
    facts = _content(source)
    if "headers" in source:
        facts["headers"] = {
            name: {"schema": schema(_resolver(document)(header)["schema"])}
            for name, header in source["headers"].items()
        }
    return facts


def _content(source: Json) -> Json:
    json = source.get("content", {}).get("application/json")
    return {"content": {"application/json": {"schema": schema(json["schema"])}}} if json else {}


def _resolver(document: Json) -> Any:
    def resolve(source: Json) -> Json:
        while "$ref" in source:
            target = document
            for word in source["$ref"].removeprefix("#/").split("/"):
                target = target[word]
            source = target
        return source

    return resolve


def referenced(facts: Iterable[Json], document: Json) -> dict[str, Json]:
    """Return name -> facts of the referenced schemas, transitively."""
    schemas: dict[str, Json] = {}
    waiting = [name for fact in facts for name in _references(fact)]
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = schema(document["components"]["schemas"][name])
            waiting += _references(schemas[name])
    return schemas


def _references(facts: Json) -> Iterator[str]:
    if isinstance(facts, dict):
        if isinstance(facts.get("$ref"), str):
            yield facts["$ref"].removeprefix(SCHEMAS)
        for value in facts.values():
            yield from _references(value)
    elif isinstance(facts, list):
        for value in facts:
            yield from _references(value)
