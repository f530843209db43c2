"""The cut keeps facts of a description; the committed files are closed and without texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tools.github_api import graphql_types
from tools.github_api.extract import TARGET, as_text, cut, differing
from tools.github_api.openapi_schemas import LEFT_OUT, operation, schema

Json = Any

NAME = {"type": "string", "description": "the name", "example": "bug", "maxLength": 50}
ANSWER = {
    "description": "A label",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/label"}}},
}
DOCUMENT: Json = {
    "info": {"title": "An API", "version": "1", "description": "text"},
    "paths": {
        "/labels/{name}": {
            "get": {
                "summary": "Get a label",
                "parameters": [{"$ref": "#/components/parameters/name"}],
                "responses": {"200": ANSWER, "304": {"$ref": "#/components/responses/none"}},
            },
            "delete": {"responses": {"204": {"description": "Gone"}}},
        }
    },
    "x-webhooks": {"label": {"post": {"requestBody": ANSWER}}},
    "components": {
        "parameters": {"name": {"name": "name", "in": "path", "required": True, "schema": NAME}},
        "responses": {"none": {"description": "Not modified"}},
        "schemas": {
            "label": {
                "type": "object",
                "properties": {"owner": {"$ref": "#/components/schemas/user"}},
            },
            "user": {"type": "object", "nullable": True, "properties": {"title": NAME}},
            "stranger": NAME,
            "basic-error": {"type": "object"},
            "validation-error": {"type": "object"},
        },
    },
}


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        (NAME, {"type": "string", "maxLength": 50}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"nullable": True, "allOf": [{"$ref": "#/a"}]},
            {"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#/a"}]}]},
        ),
        ({"oneOf": [NAME, {"type": "integer"}]}, {"anyOf": [schema(NAME), {"type": "integer"}]}),
        ({"$ref": "#/a", "description": "text"}, {"$ref": "#/a"}),
        (
            {"properties": {"description": NAME, "title": NAME}, "x-more": {}},
            {"properties": {"description": schema(NAME), "title": schema(NAME)}},
        ),
        ({"type": "array", "items": NAME}, {"type": "array", "items": schema(NAME)}),
    ],
)
def test_facts_of_a_schema(source: Json, facts: Json) -> None:
    assert schema(source) == facts


def test_no_fact_is_lost_unseen() -> None:
    with pytest.raises(ValueError, match="'multipleOf' is neither kept"):
        schema({"type": "integer", "multipleOf": 5})


def test_a_cut_operation_has_all_its_facts() -> None:
    assert operation(DOCUMENT["paths"]["/labels/{name}"]["get"], DOCUMENT) == {
        "parameters": [{"name": "name", "in": "path", "required": True, "schema": schema(NAME)}],
        "responses": {"200": {"content": ANSWER["content"]}, "304": {}},
    }


def test_a_cut_document_is_closed() -> None:
    document = cut(DOCUMENT, (("GET", "/labels/{name}"),), ("label",))
    assert set(document["components"]["schemas"]) == {
        "label", "user", "basic-error", "validation-error",
    }  # fmt: skip
    assert set(document["paths"]["/labels/{name}"]) == {"get"}
    assert set(document["webhooks"]) == {"label"}
    with pytest.raises(KeyError):
        cut(DOCUMENT, (("PUT", "/labels/{name}"),), ())


def test_operations_that_differ() -> None:
    methods = (("GET", "/labels/{name}"), ("DELETE", "/labels/{name}"))
    first, second = cut(DOCUMENT, methods, ()), cut(DOCUMENT, methods, ())
    assert differing(first, second) == ()
    second["paths"]["/labels/{name}"]["delete"]["responses"]["404"] = {}
    assert differing(first, second) == (("DELETE", "/labels/{name}"),)


def test_as_text() -> None:
    long = {"b": ["x" * 60, "y" * 60], "a": {}}
    assert as_text(long) == f'{{\n "a": {{}},\n "b": [\n  "{"x" * 60}",\n  "{"y" * 60}"\n ]\n}}\n'
    assert json.loads(as_text(DOCUMENT)) == DOCUMENT


def test_a_part_of_a_graphql_schema() -> None:
    source = '''
      """A query."""
      type Query { "One." node(id: ID!, order: Order = UP): Node secret: Secret @deprecated }
      interface Node { id: ID! }
      type Secret implements Node { id: ID! }
      type Open implements Node & Hidden { id: ID! by: Order many: [Secret!]! }
      interface Hidden { id: ID! }
      enum Order { "Up." UP }
    '''
    schema = graphql_types.cut(source, ["Query", "Node", "Open"])
    assert " ".join(schema.split()) == (
        "interface Node { id: ID! } "
        "type Open implements Node { id: ID! by: Order } "
        "enum Order { UP } "
        "type Query { node(id: ID!, order: Order = UP): Node }"
    )


def nodes(value: Json, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    yield place, value
    children = value.items() if isinstance(value, dict) else ()
    for name, child in enumerate(value) if isinstance(value, list) else children:
        yield from nodes(child, (*place, str(name)))


@pytest.mark.parametrize("name", ["openapi.json", "ghes-3.17.json"])
def test_the_committed_description_is_closed_and_has_no_texts(name: str) -> None:
    document = json.loads((TARGET / name).read_text(encoding="utf-8"))
    schemas = document["components"]["schemas"]
    words = LEFT_OUT | {"summary", "nullable", "oneOf"}
    for place, node in nodes(document):
        if isinstance(node, dict) and place[-1:] not in {("properties",), ("headers",), ("info",)}:
            assert not words & node.keys() and not any(key.startswith("x-") for key in node), place
            if isinstance(node.get("$ref"), str):
                assert node["$ref"].removeprefix("#/components/schemas/") in schemas
