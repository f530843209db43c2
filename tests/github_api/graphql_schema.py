"""Checks of queries and their answers against GitHub's GraphQL schema.

`tools.github_api.extract` cuts `schema.graphql` from the schema that GitHub publishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)
from graphql.execution import get_variable_values

Json = Any

FILE: Final = Path(__file__).parent / "schema.graphql"


def check_query(query: str, variables: Mapping[str, Json]) -> None:
    """Check that GitHub accepts a query with its variables. Raises AssertionError."""
    operation = _operation(_valid(query))
    known = {definition.variable.name.value for definition in operation.variable_definitions or ()}
    assert variables.keys() <= known, f"unknown variables: {sorted(variables.keys() - known)}"
    values = get_variable_values(
        github_schema(), tuple(operation.variable_definitions or ()), dict(variables)
    )
    assert not isinstance(values, list), "\n".join(error.message for error in values)


def check_data(query: str, variables: Mapping[str, Json], answer: Json) -> None:
    """Check that an answer has the requested fields and no others, of the schema's types.

    Null is accepted where the answer's errors name the place. Raises AssertionError.
    """
    assert answer.keys() <= {"data", "errors"}, sorted(answer)
    for error in answer.get("errors", []):
        assert isinstance(error["message"], str) and error["message"], error
        assert error.keys() <= {"message", "type", "path", "locations", "extensions"}, error
    if "data" not in answer:
        assert answer.get("errors"), "neither data nor errors"
        return
    result = execute_sync(
        github_schema(),
        _valid(query),
        root_value=answer["data"],
        variable_values=dict(variables),
        field_resolver=_answered,
        type_resolver=_type_of,
    )
    assert not result.errors, "\n".join(map(str, result.errors))
    assert result.data == answer["data"]


@cache
def github_schema() -> GraphQLSchema:
    """Return the used part of GitHub's own schema."""
    return build_schema(FILE.read_text(encoding="utf-8"))


@cache
def _valid(query: str) -> DocumentNode:
    document = parse(query)
    problems = [error.message for error in validate(github_schema(), document)]
    assert not problems, "\n".join([*problems, query])
    return document


def _operation(document: DocumentNode) -> OperationDefinitionNode:
    operation = get_operation_ast(document)
    assert operation is not None, "a request names one operation"
    return operation


def _answered(source: Json, info: GraphQLResolveInfo[Any], **_arguments: Json) -> Json:
    """Return the value that the answer has under the query's name for the field."""
    return source[info.path.key]


def _type_of(source: Json, info: GraphQLResolveInfo[Any], abstract: Any) -> str:
    """Return the type that the object names, or else one with exactly the requested fields."""
    if "__typename" in source:
        return str(source["__typename"])
    for possible in info.schema.get_possible_types(abstract):
        if source.keys() == {
            name for node in info.field_nodes for name in _names(node, possible, info.schema)
        }:
            return possible.name
    raise AssertionError(
        f"no type of {abstract.name} has exactly the fields {sorted(source)} of the answer"
    )


def _names(
    node: FieldNode | InlineFragmentNode, possible: GraphQLObjectType, schema: GraphQLSchema
) -> Iterator[str]:
    for selected in node.selection_set.selections if node.selection_set else ():
        if isinstance(selected, FieldNode):
            yield (selected.alias or selected.name).value
        elif isinstance(selected, InlineFragmentNode):
            condition = selected.type_condition
            named = schema.get_type(condition.name.value) if condition else possible
            if named is possible or (
                isinstance(named, GraphQLInterfaceType) and schema.is_sub_type(named, possible)
            ):
                yield from _names(selected, possible, schema)
        else:
            raise NotImplementedError("named fragments are not looked into")
