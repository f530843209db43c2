"""The checks of an API request before an endpoint is called, in this order, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Permissions
from tests.sandbox.served_sandbox import FLEET, Clock, ask, serving, user

REPOSITORY = f"/repos/{FLEET}"
ISSUES = f"{REPOSITORY}/issues"
DOCUMENTATION = "https://docs.github.com/rest"


def refusal_of(answer: Any) -> str:
    return f"{answer.status_code} {answer.json()['message']}"


def test_errors_are_github_s(sandbox: Sandbox) -> None:
    answer = ask(sandbox, "GET", "/repos/acme/absent", by=user(sandbox))
    assert answer.json() == {
        "message": "Not Found",
        "documentation_url": DOCUMENTATION,
        "status": "404",
    }
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["x-github-request-id"]


def test_who_may_what(sandbox: Sandbox) -> None:
    sandbox.create_repository("acme/open", private=False)
    job = user(sandbox, "actions", {"contents": "read"}, repositories=[FLEET])
    cases = [
        ("GET", REPOSITORY, "token x", "401 Bad credentials"),
        ("GET", "/nothing", "token x", "401 Bad credentials"),
        ("GET", "/nothing", job, "404 Not Found"),
        ("PUT", REPOSITORY, job, "404 Not Found"),
        ("GET", REPOSITORY, "", "404 Not Found"),
        ("GET", REPOSITORY, user(sandbox, owner="other"), "404 Not Found"),
        ("GET", ISSUES, job, "403 Resource not accessible by integration"),
        ("POST", ISSUES, job, "403 Resource not accessible by integration"),
        ("POST", ISSUES, user(sandbox, "user", {}), PERSONAL),
        ("POST", "/repos/acme/open/issues", job, "403 Resource not accessible by integration"),
        ("POST", "/repos/acme/open/issues", "", "401 Requires authentication"),
        ("GET", "/rate_limit", "", "401 Requires authentication"),
        ("GET", "/app/installations", job, "401 A JSON web token could not be decoded"),
    ]
    for method, path, authorization, expected in cases:
        answer = ask(sandbox, method, path, by=authorization, json={})
        assert refusal_of(answer) == expected, (method, path, authorization)
    for path in ("", "/issues", "/git/ref/heads/main"):
        assert ask(sandbox, "GET", f"/repos/acme/open{path}").status_code in {200, 409}


PERSONAL = "403 Resource not accessible by personal access token"


def test_a_refusal_names_sufficient_permissions(sandbox: Sandbox) -> None:
    cases: list[tuple[Permissions, int]] = [({}, 403), ({"issues": "write"}, 422)]
    for permissions, status in cases:
        who = user(sandbox, "user", permissions)
        answer = ask(sandbox, "POST", ISSUES, by=who, json={})
        assert answer.status_code == status
        assert answer.headers["x-accepted-github-permissions"] == "issues=write"
    answer = ask(sandbox, "POST", f"{ISSUES}/1/comments", by=who, json={})
    either = "issues=write; pull_requests=write"
    assert answer.headers["x-accepted-github-permissions"] == either


def test_an_archived_repository_is_read_only(sandbox: Sandbox) -> None:
    who = user(sandbox)
    sandbox.repository(FLEET).archived = True
    assert ask(sandbox, "GET", ISSUES, by=who).status_code == 200
    answer = ask(sandbox, "POST", ISSUES, by=who, json={"title": "x"})
    assert refusal_of(answer) == "403 Repository was archived so is read-only."


def test_a_renamed_repository_has_moved(sandbox: Sandbox) -> None:
    who = user(sandbox, repositories=[FLEET])
    number = sandbox.repository(FLEET).id
    sandbox.rename_repository(FLEET, "ships")
    moved = f"{sandbox.url}/repositories/{number}/issues?state=all"
    read = ask(sandbox, "GET", f"{ISSUES}?state=all", by=who)
    assert (read.status_code, read.headers["location"]) == (301, moved)
    assert read.json()["url"] == moved
    written = ask(sandbox, "POST", ISSUES, by=who, json={"title": "x"})
    assert written.status_code == 307
    followed = ask(sandbox, "POST", f"/repositories/{number}/issues", by=who, json={"title": "x"})
    assert followed.json()["url"].endswith("/repos/acme/ships/issues/1")
    assert ask(sandbox, "GET", ISSUES).status_code == 404, "it is nobody's business"
    assert sandbox.git("acme/ships").head("main")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", "400 Problems parsing JSON"),
        (b"\xff", "400 Problems parsing JSON"),
        (b"[]", "400 Body should be a JSON object"),
        (b"1", "400 Body should be a JSON object"),
        (b"", "422 "),
        (b"{}", "422 "),
    ],
)
def test_the_body_is_an_object(sandbox: Sandbox, body: bytes, expected: str) -> None:
    answer = ask(sandbox, "POST", ISSUES, by=user(sandbox), data=body)
    assert refusal_of(answer).startswith(expected)


def test_headers_that_github_wants(sandbox: Sandbox) -> None:
    who = user(sandbox)
    nameless = ask(sandbox, "GET", REPOSITORY, by=who, headers={"User-Agent": ""})
    assert nameless.status_code == 403 and "User-Agent" in nameless.json()["message"]
    for version, status in (("2022-11-28", 200), ("2026-03-10", 200), ("1999-01-01", 400)):
        asked = {"X-GitHub-Api-Version": version}
        versioned = ask(sandbox, "GET", REPOSITORY, by=who, headers=asked)
        assert versioned.status_code == status
        if status == 200:
            assert versioned.headers["x-github-api-version-selected"] == version


def test_every_answer_has_the_remaining_rate_limit(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        sandbox.state.rate_limits.per_hour["user"] = 2
        who = user(sandbox)
        left = [
            ask(sandbox, "GET", path, by=who).headers["x-ratelimit-remaining"]
            for path in (REPOSITORY, "/rate_limit", "/nothing")
        ]
        assert left == ["1", "1", "0"]
        refused = ask(sandbox, "GET", REPOSITORY, by=who)
        assert refusal_of(refused) == "403 API rate limit exceeded for user somebody"
        assert refused.headers["x-ratelimit-remaining"] == "0"
        clock.advance(hours=1)
        assert ask(sandbox, "GET", REPOSITORY, by=who).status_code == 200


def test_too_many_new_contents(sandbox: Sandbox) -> None:
    who = user(sandbox)
    sandbox.state.rate_limits.contents_per_minute = 1
    answers = [ask(sandbox, "POST", ISSUES, by=who, json={"title": "x"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 403]
    assert answers[1].headers["retry-after"] == "60"
    assert "secondary rate limit" in answers[1].json()["message"]
    assert ask(sandbox, "GET", ISSUES, by=who).status_code == 200


def test_an_enterprise_server(tmp_path: Path) -> None:
    with serving(tmp_path, flavour="ghes") as sandbox:
        who = user(sandbox)
        assert sandbox.environment()["GITHUB_API_URL"] == f"{sandbox.url}/api/v3"
        answer = ask(sandbox, "GET", REPOSITORY, by=who)
        assert answer.json()["url"] == f"{sandbox.url}/api/v3{REPOSITORY}"
        assert answer.headers["x-github-enterprise-version"] == "3.17.0"
        assert not [name for name in answer.headers if name.startswith("x-ratelimit")]
        newest = {"X-GitHub-Api-Version": "2026-03-10"}
        refused = ask(sandbox, "GET", REPOSITORY, by=who, headers=newest)
        assert refusal_of(refused) == "400 '2026-03-10' is not a supported API version"


def test_api_paths_of_both_flavours_and_head(sandbox: Sandbox) -> None:
    who = user(sandbox)
    for mount in ("", "/api/v3"):
        answer = ask(sandbox, "GET", f"{mount}{REPOSITORY}", by=who)
        assert answer.json()["url"] == f"{sandbox.url}{mount}{REPOSITORY}"
    for path in ("/graphql", "/api/graphql"):
        query = {"query": "{ viewer { login } }"}
        assert ask(sandbox, "POST", path, by=who, json=query).status_code == 200
    head = ask(sandbox, "HEAD", REPOSITORY, by=who)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 0


def test_a_fault_of_an_endpoint_is_no_answer_of_github_s(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    who = user(sandbox)
    monkeypatch.setattr(type(sandbox.store), "save", lambda _: 1 / 0)
    answer = ask(sandbox, "POST", ISSUES, by=who, json={"title": "x"})
    monkeypatch.undo()
    assert refusal_of(answer) == "500 Server Error: this is a bug in the sandbox"
    assert "ZeroDivisionError" in caplog.text
