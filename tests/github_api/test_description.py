"""The checks themselves: they find planted violations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.github_api import description
from tests.github_api.corrections import ADDITIONS, CORRECTIONS, Addition, Correction
from tests.github_api.description import check_answer, check_payload, check_request
from tools.github_api.used_operations import OPERATIONS

REPOSITORY = "/repos/{owner}/{repo}"
VARIABLES = f"{REPOSITORY}/environments/{{environment_name}}/variables/{{name}}"
DISPATCH = f"{REPOSITORY}/actions/workflows/{{workflow_id}}/dispatches"
LABEL = {
    "id": 1,
    "node_id": "n",
    "url": "https://api.github.com/repos/acme/fleet/labels/bug",
    "name": "bug",
    "description": None,
    "color": "ededed",
    "default": False,
}
VARIABLE = {
    "name": "NEXT",
    "value": "qa",
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-02T03:04:05Z",
}


def label(**changed: Any) -> dict[str, Any]:
    return {**LABEL, **changed}


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", f"{REPOSITORY}/labels/{{name}}", 200, label()),
        ("GET", f"{REPOSITORY}/labels", 200, [label(), label(description="d")]),
        ("GET", VARIABLES, 200, VARIABLE),
        ("DELETE", f"{REPOSITORY}/issues/comments/{{comment_id}}", 204, None),
        ("GET", f"{REPOSITORY}/labels/{{name}}", 404, {"message": "Not Found", "status": "404"}),
        (
            "GET",
            "/rate_limit",
            429,
            {"message": "Too many", "documentation_url": "https://x.com/y"},
        ),
    ],
)
def test_answers_of_github(method: str, path: str, status: int, body: Any) -> None:
    check_answer(method, path, status, body)


@pytest.mark.parametrize(
    ("path", "status", "body", "problem"),
    [
        ("labels/{name}", 200, label(id="1"), r'\$\.id: "1" is not of type "integer"'),
        ("labels/{name}", 200, label(colour="red"), r"\$\.colour: is not known"),
        ("labels/{name}", 200, label(url="/labels/bug"), r'\$\.url: .* is not a "uri"'),
        ("labels/{name}", 200, {"id": 1}, '"name" is a required property'),
        ("labels/{name}", 200, None, 'null is not of type "object"'),
        ("labels", 200, [label(), label(no=1)], r"\$\[1\]\.no: is not known"),
        ("labels/{name}", 418, {}, "never answered with 418"),
        ("labels/{name}", 404, {"message": 1}, r'\$\.message: 1 is not of type "string"'),
        ("labels/{name}", 404, {"msg": "Not Found"}, r"\$\.msg: is not known"),
        ("lables", 200, [], "no operation"),
        (
            VARIABLES.removeprefix(f"{REPOSITORY}/"),
            200,
            {**VARIABLE, "created_at": "2026-02-30T00:00:00Z"},
            'is not a "date-time"',
        ),
    ],
)
def test_answers_that_github_would_not_give(
    path: str, status: int, body: Any, problem: str
) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_answer("GET", f"{REPOSITORY}/{path}", status, body)


@pytest.mark.parametrize("resembling", [{"id": True}, {"default": 0}, {"color": None}])
def test_an_answer_that_resembles_a_right_one(resembling: dict[str, Any]) -> None:
    path = f"{REPOSITORY}/labels/{{name}}"
    for _ in range(2):
        check_answer("GET", path, 200, label())
        with pytest.raises(AssertionError, match="is not of type"):
            check_answer("GET", path, 200, label(**resembling))


def test_no_body_where_none_is_described() -> None:
    with pytest.raises(AssertionError, match="none is described"):
        check_answer("DELETE", f"{REPOSITORY}/issues/comments/{{comment_id}}", 204, {})


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("GET", "pulls", {"state": "closed", "per_page": "100", "head": "acme:b"}, None),
        ("POST", "issues", {}, {"title": "t", "body": "b", "labels": ["a"]}),
        ("POST", "issues/{issue_number}/labels", {}, ["a", "b"]),
        ("POST", "issues/{issue_number}/labels", {}, {"labels": ["a"]}),
        ("POST", "dispatches", {}, {"event_type": "e", "client_payload": {"any": {"thing": 1}}}),
        ("GET", "actions/workflows/{workflow_id}/runs", {"exclude_pull_requests": "true"}, None),
    ],
)
def test_requests_to_github(method: str, path: str, query: dict[str, str], body: Any) -> None:
    check_request(method, f"{REPOSITORY}/{path}", query, body)


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "problem"),
    [
        ("GET", "pulls", {"state": "merged"}, None, r'\?state: "merged" is not one of'),
        ("GET", "pulls", {"per_page": "many"}, None, r'\?per_page: "many" is not of type'),
        ("GET", "pulls", {"sha": "1"}, None, r"\?sha: is not known"),
        ("GET", "pulls", {}, {"state": "open"}, "none is described"),
        ("POST", "issues", {}, {"body": "b"}, '"title" is a required property'),
        ("POST", "issues", {}, {"title": "t", "tags": []}, r"\$\.tags: is not known"),
        ("POST", "issues", {}, None, 'null is not of type "object"'),
        ("POST", "dispatches", {}, {"event_type": "e" * 101}, "is longer than"),
        ("POST", "dispatches", {}, {"event_type": "e", "other": 1}, r"\$\.other: is not known"),
    ],
)
def test_requests_that_github_would_not_understand(
    method: str, path: str, query: dict[str, str], body: Any, problem: str
) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_request(method, f"{REPOSITORY}/{path}", query, body)


def test_github_enterprise_server_knows_less() -> None:
    body = {"ref": "main", "inputs": {}, "return_run_details": True}
    check_request("POST", DISPATCH, {}, body)
    with pytest.raises(AssertionError, match="return_run_details: is not known"):
        check_request("POST", DISPATCH, {}, body, flavour=description.SERVER)
    check_request("POST", f"{REPOSITORY}/issues", {}, {"title": "t"}, flavour=description.SERVER)


def test_payloads() -> None:
    with pytest.raises(AssertionError, match="no event"):
        check_payload("pull_request", {"action": "merged"})
    with pytest.raises(AssertionError, match='"ref" is a required property'):
        check_payload("push", {})
    with pytest.raises(AssertionError, match=r"\$\.who: is not known"):
        check_payload("workflow_dispatch", {"who": 1})


@pytest.mark.parametrize(
    "correction", CORRECTIONS, ids=lambda correction: "/".join(correction.path)
)
def test_a_correction_is_needed_and_once_enough(correction: Correction) -> None:
    document = description.published()
    assert correction.apply(document)
    assert not correction.apply(document)


@pytest.mark.parametrize(
    "addition", ADDITIONS, ids=lambda addition: f"{addition.path} {addition.status}"
)
def test_an_addition_is_needed(addition: Addition) -> None:
    paths = description.published()["paths"]
    assert any(
        str(addition.status) not in paths[path][method.lower()]["responses"]
        for method, path in OPERATIONS
        if addition.meets(method, path)
    )
