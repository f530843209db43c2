"""The results of one query about a proposal; values that GitHub leaves out are unknown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import responses

from kalypso_actions.clients.github import GitHubError, overviews
from kalypso_actions.model.github import (
    Commit,
    PathHead,
    ProposalOverview,
    PullRequest,
    RegisteredPath,
)
from tests.clients.github.connections import API, connect
from tests.github_api.graphql_schema import check_query

COMMIT = "1" * 40
PULL: dict[str, Any] = {
    "id": "PR_5",
    "number": 5,
    "url": "https://github.com/acme/gitops/pull/5",
    "title": "Update manifests",
    "body": "Text",
    "isCrossRepository": False,
    "headRefName": "kalypso/dev",
    "headRefOid": COMMIT,
    "baseRefName": "dev",
    "mergeable": "MERGEABLE",
    "author": {"__typename": "Bot", "login": "kalypso"},
    "labels": {"totalCount": 1, "nodes": [{"name": "kalypso"}]},
    "autoMergeRequest": None,
}
FOUND: dict[str, Any] = {
    "nameWithOwner": "acme/gitops",
    "visibility": "INTERNAL",
    "from": {
        "totalCount": 2,
        "nodes": [{**PULL, "number": 7, "isCrossRepository": True}, PULL],
    },
    "into": {"totalCount": 2, "nodes": [{"number": 5}, {"number": 6}]},
    "closed": {"totalCount": 0},
    "labels": {"totalCount": 1, "nodes": [{"name": "kalypso"}]},
    "ref": {"refUpdateRule": None, "rules": {"totalCount": 1, "nodes": [{"type": "UPDATE"}]}},
    "own": {
        "oid": COMMIT,
        "message": "Change",
        "committedDate": "2026-03-01T12:00:00Z",
        "tree": {"oid": "2" * 40},
        "parents": {"totalCount": 1, "nodes": [{"oid": "3" * 40}]},
    },
}
OWN = PullRequest(
    number=5,
    url="https://github.com/acme/gitops/pull/5",
    title="Update manifests",
    body="Text",
    state="open",
    merged=False,
    merge_commit="",
    head_repository="acme/gitops",
    head_branch="kalypso/dev",
    head_commit=COMMIT,
    base_branch="dev",
    labels=("kalypso",),
    author="kalypso[bot]",
    mergeable=True,
    merge_state="unknown",
    node_id="PR_5",
)
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SIGNED = {"totalCount": 1, "nodes": [{"type": "REQUIRED_SIGNATURES"}]}


def read_proposal(found: Any, errors: list[Any] | None = None) -> ProposalOverview:
    answer = {"data": {"repository": found}} | ({"errors": errors} if errors else {})
    with responses.RequestsMock() as server:
        server.add("POST", f"{API}/graphql", json=answer)
        return overviews.read_proposal(
            connect(), "acme/gitops", head="kalypso/dev", base="dev", commit=COMMIT
        )


def test_everything() -> None:
    assert read_proposal(FOUND) == ProposalOverview(
        from_branch=(OWN,),
        into_branch=(5, 6),
        has_closed=False,
        labels=("kalypso",),
        requires_signatures=False,
        own_commit=Commit(COMMIT, "2" * 40, ("3" * 40,), "Change", NOON),
        visibility="internal",
    )


@pytest.mark.parametrize("commit", [COMMIT, None])
def test_github_accepts_the_query(commit: str | None) -> None:
    variables = overviews.proposal_variables("acme", "gitops", "kalypso/dev", "dev", commit)
    check_query(overviews.proposal_query(with_commit=bool(commit)), variables)


USER = {"__typename": "User", "login": "ann"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"mergeable": "CONFLICTING"}, {"mergeable": False, "merge_state": "dirty"}),
        ({"mergeable": "UNKNOWN"}, {"mergeable": None}),
        ({"author": None}, {"author": ""}),
        ({"labels": {"totalCount": 0, "nodes": []}}, {"labels": ()}),
        ({"autoMergeRequest": {"enabledBy": USER}}, {"auto_merge_by": "ann"}),
        ({"autoMergeRequest": {"enabledBy": None}}, {"auto_merge_by": "ghost"}),
    ],
)
def test_an_open_pull_request(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    found = {**FOUND, "from": {"totalCount": 1, "nodes": [{**PULL, **fields}]}}
    assert read_proposal(found).from_branch == (OWN._replace(**expected),)


@pytest.mark.parametrize(
    ("name", "connection"),
    [("from", "from_branch"), ("into", "into_branch"), ("labels", "labels")],
)
def test_an_incomplete_list_is_unknown(name: str, connection: str) -> None:
    longer = {**FOUND[name], "totalCount": 101}
    assert getattr(read_proposal({**FOUND, name: longer}), connection) is None
    hidden = {**FOUND[name], "nodes": [None]}
    assert getattr(read_proposal({**FOUND, name: hidden}), connection) is None


@pytest.mark.parametrize(
    ("ref", "requires"),
    [
        (None, None),
        ({"refUpdateRule": None, "rules": None}, None),
        ({"refUpdateRule": {"requiresSignatures": False}, "rules": None}, None),
        ({"refUpdateRule": {"requiresSignatures": True}, "rules": None}, True),
        ({"refUpdateRule": None, "rules": SIGNED}, True),
        ({"refUpdateRule": None, "rules": {"totalCount": 0, "nodes": []}}, False),
    ],
)
def test_signatures(ref: Any, requires: bool | None) -> None:
    assert read_proposal({**FOUND, "ref": ref}).requires_signatures is requires


@pytest.mark.parametrize("own", [None, {}])
def test_a_missing_commit(own: Any) -> None:
    assert read_proposal({**FOUND, "own": own}).own_commit is None


@pytest.mark.parametrize("found", [None, {**FOUND, "labels": None}])
def test_nothing_is_known_beside_an_error(found: Any) -> None:
    error = {"type": "FORBIDDEN", "path": ["repository"], "message": "Resource not accessible"}
    assert read_proposal(found, [error]) == ProposalOverview()


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
