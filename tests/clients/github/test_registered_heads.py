"""Heads of many registered folders, by few requests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import requests
import responses

from kalypso_actions.clients.github import GitHubError, overviews
from kalypso_actions.model.github import PathHead, RegisteredPath
from tests.clients.github.connections import API, connect
from tests.github_api.graphql_schema import check_query

Answers = Mapping[str, Any]
"""`owner/name` -> GitHub's data about the repository."""


def registered(repository: str, path: str = "", branch: str = "main") -> RegisteredPath:
    return RegisteredPath(repository, branch, path)


def head_of(commit: str, tree: str | None = None, kind: str = "Tree") -> dict[str, Any]:
    result = None if tree is None else {"__typename": kind, "oid": tree}
    return {"ref": {"target": {"oid": commit}}, "object": result}


def graphql(known: Answers, seen: list[dict[str, str]]) -> Any:
    """Answer as GitHub's GraphQL for the repositories of `known`; the others are not found."""

    def answer(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
        content = json.loads(request.body or "")
        variables = content["variables"]
        check_query(content["query"], variables)
        seen.append(variables)
        numbers = re.findall(r"r(\d+): repository", content["query"])
        names = {f"r{n}": f"{variables[f'owner{n}']}/{variables[f'name{n}']}" for n in numbers}
        errors = [
            {"type": "NOT_FOUND", "path": [alias], "message": f"Could not resolve {name}"}
            for alias, name in names.items()
            if name not in known
        ]
        data = {alias: known.get(name) for alias, name in names.items()}
        body = {"data": data} | ({"errors": errors} if errors else {})
        return 200, {}, json.dumps(body)

    return answer


def read(known: Answers, *paths: RegisteredPath) -> tuple[Any, list[dict[str, str]]]:
    seen: list[dict[str, str]] = []
    with responses.RequestsMock(assert_all_requests_are_fired=False) as server:
        server.add_callback("POST", f"{API}/graphql", graphql(known, seen))
        return overviews.read_registered_heads(connect(), paths), seen


@pytest.mark.parametrize(
    ("answer", "head"),
    [
        (head_of("c1", "t1"), PathHead("c1", "t1")),
        (head_of("c1"), PathHead("c1", None)),
        (head_of("c1", "b1", kind="Blob"), PathHead("c1", None)),
        ({"ref": None, "object": None}, None),
        (None, None),
    ],
    ids=["folder", "no folder", "a file", "no branch", "no repository"],
)
def test_the_data_of_a_folder(answer: Any, head: PathHead | None) -> None:
    path = registered("acme/app", "deploy")
    result, _ = read({"acme/app": answer}, path)
    assert result == {path: head}


def test_the_others_are_unaffected_by_what_cannot_be_seen() -> None:
    gone, here = registered("acme/gone"), registered("acme/app")
    result, seen = read({"acme/app": head_of("c1", "t1")}, gone, here)
    assert result == {gone: None, here: PathHead("c1", "t1")}
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("path", "expression"),
    [
        ("", "refs/heads/main:"),
        (".", "refs/heads/main:"),
        ("/", "refs/heads/main:"),
        ("./deploy/", "refs/heads/main:deploy"),
        ("/deploy//eu", "refs/heads/main:deploy/eu"),
        ('a"}b', 'refs/heads/main:a"}b'),
    ],
)
def test_names_travel_as_variables(path: str, expression: str) -> None:
    _, (variables,) = read({}, registered("acme/app", path))
    assert variables == {
        "owner0": "acme",
        "name0": "app",
        "ref0": "refs/heads/main",
        "path0": expression,
    }


@pytest.mark.parametrize(("count", "requests_made"), [(0, 0), (1, 1), (100, 1), (101, 2), (250, 3)])
def test_a_hundred_by_one_request(count: int, requests_made: int) -> None:
    known = {f"acme/app{n}": head_of(f"c{n}", f"t{n}") for n in range(count)}
    paths = [registered(name) for name in known]
    result, seen = read(known, *paths)
    assert result == {path: PathHead(f"c{n}", f"t{n}") for n, path in enumerate(paths)}
    assert len(seen) == requests_made


def test_a_folder_that_is_registered_twice_is_asked_for_once() -> None:
    path = registered("acme/app")
    _, (variables,) = read({"acme/app": head_of("c1")}, path, path)
    assert "owner1" not in variables


def test_the_query_holds_no_name() -> None:
    assert overviews.heads_query(1) == (
        "query Heads($owner0: String!, $name0: String!, $ref0: String!, $path0: String!) {\n"
        "  r0: repository(owner: $owner0, name: $name0, followRenames: false) {\n"
        "    ref(qualifiedName: $ref0) { target { oid } }\n"
        "    object(expression: $path0) { __typename oid }\n"
        "  }\n"
        "}"
    )


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Something went wrong while executing your query."},
        {"type": "SERVICE_UNAVAILABLE", "path": ["r0"], "message": "Something went wrong"},
        {"type": "NOT_FOUND", "path": ["r0", "object"], "message": "Something went wrong"},
    ],
)
def test_other_errors_are_not_absence(error: object) -> None:
    with responses.RequestsMock() as server:
        server.post(f"{API}/graphql", json={"data": {"r0": None}, "errors": [error]})
        with pytest.raises(GitHubError, match="Something went wrong"):
            overviews.read_registered_heads(connect(), [registered("acme/app")])


def test_a_repository_behind_single_sign_on_is_reported_and_skipped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    error = {"type": "FORBIDDEN", "path": ["r0"], "message": "Resource protected by SAML"}
    path = registered("acme/app")
    with responses.RequestsMock() as server:
        server.post(f"{API}/graphql", json={"data": {"r0": None}, "errors": [error]})
        assert overviews.read_registered_heads(connect(), [path]) == {path: None}
    assert "the token may not see acme/app: Resource protected by SAML" in caplog.text
