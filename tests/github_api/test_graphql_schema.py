"""The checks of queries and of their answers find planted violations."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    build_schema,
    validate_schema,
)

from kalypso_sandbox.github.graphql.queries import SCHEMA
from tests.github_api.graphql_schema import check_data, check_query, github_schema

HEADS = """
query heads($owner: String!, $name: String!, $branch: String!, $folder: String!) {
  first: repository(owner: $owner, name: $name) {
    ref(qualifiedName: $branch) { target { oid } }
    tree: object(expression: $folder) { __typename ... on Tree { oid } }
  }
  rateLimit { cost remaining }
}
"""
VARIABLES = {"owner": "acme", "name": "fleet", "branch": "refs/heads/dev", "folder": "dev:a"}
FIRST: dict[str, Any] = {
    "ref": {"target": {"oid": "1" * 40}},
    "tree": {"__typename": "Tree", "oid": "2" * 40},
}
DATA: dict[str, Any] = {"first": FIRST, "rateLimit": {"cost": 1, "remaining": 4999}}


def test_a_valid_query_and_its_answer() -> None:
    check_query(HEADS, VARIABLES)
    check_data(HEADS, VARIABLES, {"data": DATA})


def test_a_missing_repository() -> None:
    error = {
        "type": "NOT_FOUND",
        "path": ["first"],
        "message": "Could not resolve",
        "locations": [],
    }
    check_data(HEADS, VARIABLES, {"data": {**DATA, "first": None}, "errors": [error]})


@pytest.mark.parametrize(
    ("query", "variables", "problem"),
    [
        ("{ repositry(owner: 1) { id } }", {}, "Cannot query field 'repositry'"),
        ("query q($n: Int!) { rateLimit(dryRun: $n) { cost } }", {"n": 1}, "used in position"),
        (HEADS, {**VARIABLES, "owner": None}, "owner"),
        (HEADS, {**VARIABLES, "owner": 1}, "owner"),
        (HEADS, {**VARIABLES, "other": "x"}, "unknown variables"),
    ],
)
def test_queries_that_github_refuses(query: str, variables: dict[str, Any], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_query(query, variables)


@pytest.mark.parametrize(
    "data",
    [
        {**DATA, "rateLimit": {"cost": "one", "remaining": 1}},
        {**DATA, "rateLimit": {"cost": 1}},
        {**DATA, "second": None},
        {**DATA, "first": {**FIRST, "ref": {"target": {"oid": None}}}},
        {**DATA, "first": {**FIRST, "tree": {"__typename": "Tree", "sha": "1"}}},
    ],
)
def test_answers_that_github_would_not_give(data: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        check_data(HEADS, VARIABLES, {"data": data})


def test_an_answer_without_data_has_errors() -> None:
    with pytest.raises(AssertionError, match="neither"):
        check_data(HEADS, VARIABLES, {})


def test_the_sandboxs_schema_is_a_part_of_githubs() -> None:
    ours, githubs = build_schema(SCHEMA), github_schema()
    assert validate_schema(ours) == []
    for name, own in ours.type_map.items():
        if name.startswith("__"):
            continue
        real = githubs.type_map[name]
        assert type(own) is type(real)
        if isinstance(own, GraphQLObjectType | GraphQLInterfaceType):
            assert isinstance(real, type(own))
            assert {each.name for each in own.interfaces} <= {each.name for each in real.interfaces}
            for key, field in own.fields.items():
                assert written(field) == written(real.fields[key]), f"{name}.{key}"


def written(field: GraphQLField) -> tuple[str, dict[str, str]]:
    """Return the type of a field, and those of its arguments."""
    return str(field.type), {name: str(argument.type) for name, argument in field.args.items()}
