"""GraphQL: heads and folders of many repositories, and errors beside the data."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.api_client import ApiClient

NOW = "2026-03-01T12:00:00Z"
HEADS = """
query ($name: String!, $ref: String!, $path: String!) {
  a: repository(owner: "acme", name: $name) { ...Head }
  b: repository(owner: "acme", name: "nowhere") { ...Head }
  rateLimit { cost remaining resetAt }
}
fragment Head on Repository {
  ref(qualifiedName: $ref) {
    name
    prefix
    target { oid ... on Commit { messageHeadline tree { oid } } }
  }
  object(expression: $path) { __typename oid }
}
"""


def asked(github: ApiClient, query: str, token: str = "", **variables: str) -> Any:
    body = {"query": query, "variables": variables}
    return github.made("POST", "/graphql", body, token=token)


def test_one_faulty_repository_hides_no_other(github: ApiClient) -> None:
    commit = github.commit("main", {"apps/a.yaml": "1"})
    response = asked(github, HEADS, name="fleet", ref="refs/heads/main", path="main:apps")
    assert response["data"]["a"] == {
        "ref": {
            "name": "main",
            "prefix": "refs/heads/",
            "target": {
                "oid": commit,
                "messageHeadline": "Change",
                "tree": {"oid": github.git.tree_id("main", "")},
            },
        },
        "object": {"__typename": "Tree", "oid": github.git.tree_id("main", "apps")},
    }
    assert response["data"]["b"] is None
    assert response["data"]["rateLimit"]["cost"] == 1
    (error,) = response["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["b"])
    assert error["message"] == "Could not resolve to a Repository with the name 'acme/nowhere'."


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ('ref(qualifiedName: "main") { name }', {"name": "main"}),
        ('ref(qualifiedName: "refs/heads/nowhere") { name }', None),
        ('object(expression: "main:README.md") { __typename }', {"__typename": "Blob"}),
        ('object(expression: "main:") { __typename }', {"__typename": "Tree"}),
        ('object(expression: "main:nothing") { __typename }', None),
        ('object(expression: "main") { __typename }', {"__typename": "Commit"}),
        ('object(oid: "%s") { __typename }', {"__typename": "Tree"}),
        ('object(oid: "0000000000000000000000000000000000000000") { __typename }', None),
        ("defaultBranchRef { name }", {"name": "main"}),
        ("isEmpty", False),
        ("nameWithOwner", "acme/fleet"),
    ],
)
def test_what_a_repository_has(github: ApiClient, field: str, expected: Any) -> None:
    field = field % github.git.tree_id("main", "") if "%s" in field else field
    query = f'{{ repository(owner: "ACME", name: "Fleet") {{ it: {field} }} }}'
    assert asked(github, query) == {"data": {"repository": {"it": expected}}}


def test_repositories_that_may_not_be_read(github: ApiClient) -> None:
    query = '{ repository(owner: "acme", name: "fleet") { name } }'
    blind = github.sandbox.create_token("user", {"issues": "read"})
    (error,) = asked(github, query, blind)["errors"]
    assert error["type"] == "FORBIDDEN"
    stranger = github.sandbox.create_token("user", owner="other")
    (error,) = asked(github, query, stranger)["errors"]
    assert error["type"] == "NOT_FOUND"


def test_statuses_of_the_newest_commits(github: ApiClient) -> None:
    first, second = (github.commit("main", {"a": text}) for text in ("1", "2"))
    for context, state in (("ci", "success"), ("Dev", "pending"), ("dev", "failure")):
        body = {"state": state, "context": context, "target_url": "https://a.b/c"}
        github.made("POST", f"statuses/{first}", body)
    query = """{ repository(owner: "acme", name: "fleet") { object(expression: "main") {
      ... on Commit { history(first: 2) { nodes { oid status {
        state context(name: "CI") { state } contexts { context state createdAt targetUrl }
      } } } }
    } } }"""
    response = asked(github, query)
    contexts = [
        {"context": name, "state": state, "createdAt": NOW, "targetUrl": "https://a.b/c"}
        for name, state in (("ci", "SUCCESS"), ("dev", "FAILURE"))
    ]
    status = {"state": "FAILURE", "context": {"state": "SUCCESS"}, "contexts": contexts}
    assert response["data"]["repository"]["object"]["history"]["nodes"] == [
        {"oid": second, "status": None},
        {"oid": first, "status": status},
    ]
    reader = github.sandbox.create_token("user", {"contents": "read"})
    errors = asked(github, query, reader)["errors"]
    assert {error["type"] for error in errors} == {"FORBIDDEN"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "You must provide a `first` or `last` value"),
        ("(first: 101)", "Requesting 101 records"),
        ('(first: 1, path: "a")', "the sandbox does not support the argument path"),
    ],
)
def test_a_history_that_is_refused(github: ApiClient, arguments: str, message: str) -> None:
    query = f"""{{ repository(owner: "acme", name: "fleet") {{ object(expression: "main") {{
      ... on Commit {{ history{arguments or ""} {{ nodes {{ oid }} }} }}
    }} }} }}"""
    (error,) = asked(github, query)["errors"]
    assert error["message"].startswith(message)


def test_a_renamed_repository_is_followed(github: ApiClient) -> None:
    github.repository.former_names.append("acme/former")
    query = '{ repository(owner: "acme", name: "former"%s) { name } }'
    assert asked(github, query % "")["data"]["repository"] == {"name": "fleet"}
    (error,) = asked(github, query % ", followRenames: false")["errors"]
    assert error["type"] == "NOT_FOUND"
