"""The connection: lazy objects, absent things, GraphQL, the header for git, and secrets."""

from __future__ import annotations

import base64

import pytest
import responses
from responses import matchers

from kalypso_actions.clients.github import GitHubError, TokenAuth
from kalypso_actions.errors import KalypsoError, UsageError
from tests.clients.github.connections import (
    API,
    REPOSITORY,
    TOKEN,
    connect,
    read,
    read_all,
    read_optional,
)

GRAPHQL = f"{API}/graphql"


def test_what_each_request_says() -> None:
    with responses.RequestsMock() as server:
        server.get(
            REPOSITORY,
            json={"default_branch": "main"},
            match=[
                matchers.header_matcher(
                    {
                        "Authorization": f"Bearer {TOKEN}",
                        "Accept": "application/vnd.github+json",
                        "X-GitHub-Api-Version": "2022-11-28",
                    }
                )
            ],
        )
        assert read(connect(), "acme/fleet", "")["default_branch"] == "main"
        agent = server.calls[0].request.headers["User-Agent"]
    assert agent.startswith("kalypso-actions/")


@pytest.mark.parametrize("body", [{"message": "x"}, {"items": 7}, 7])
def test_an_answer_that_is_no_list(body: object) -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/labels", json=body)
        with pytest.raises(
            GitHubError, match="it cannot be listed: GitHub sent something other than a list"
        ):
            read_all(connect(), "acme/fleet", "/labels")


@pytest.mark.parametrize(
    "name", ["fleet", "acme/", "/fleet", "acme/fleet/x", "acme/..", "acme/fl eet", "acme/f?x", ""]
)
def test_faulty_names_of_repositories(name: str) -> None:
    with pytest.raises(UsageError, match="is not a repository of GitHub"):
        read(connect(), name, "")


def test_absent_is_none_in_a_repository_that_can_be_seen() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/labels/x", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, json={"id": 1})
        github = connect()
        for _ in range(2):
            assert read_optional(github, "acme/fleet", "/labels/x") is None
        paths = [call.request.path_url for call in server.calls]
    assert paths == [
        "/repos/acme/fleet/labels/x",
        "/repos/acme/fleet",
        "/repos/acme/fleet/labels/x",
    ]


def test_a_repository_that_answered_before_is_not_looked_for() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/labels", json=[])
        server.get(f"{API}/repos/ACME/fleet/labels/x", status=404, json={"message": "Not Found"})
        github = connect()
        read(github, "acme/fleet", "/labels")
        assert read_optional(github, "ACME/fleet", "/labels/x") is None


def test_an_invisible_repository_is_not_empty() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/labels/x", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, status=404, json={"message": "Not Found"})
        with pytest.raises(GitHubError, match="acme/fleet: it cannot be read"):
            read_optional(connect(), "acme/fleet", "/labels/x")


def test_other_refusals_are_not_absence() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/labels/x", status=403, json={"message": "No"})
        with pytest.raises(GitHubError):
            read_optional(connect(), "acme/fleet", "/labels/x")


def test_graphql_gives_data_and_what_is_missing_in_it() -> None:
    missing = {"type": "NOT_FOUND", "path": ["b"], "message": "Could not resolve"}
    body = {"query": "query Q($x: String!) { a }", "variables": {"x": "1"}}
    with responses.RequestsMock() as server:
        server.post(
            GRAPHQL,
            json={"data": {"a": 1, "b": None}, "errors": [missing]},
            match=[matchers.json_params_matcher(body)],
        )
        result = connect().graphql("acme", "no", "query Q($x: String!) { a }", {"x": "1"})
    assert result == ({"a": 1, "b": None}, (missing,))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"errors": [{"message": "Field 'x' doesn't exist"}]}, "Field 'x' doesn't exist"),
        ({"data": None, "errors": [{"message": "Something went wrong"}]}, "Something went wrong"),
        ({}, "the response contains no data"),
        ([], "the response contains no data"),
    ],
)
def test_graphql_without_data_is_an_error(answer: object, message: str) -> None:
    with responses.RequestsMock() as server:
        server.post(GRAPHQL, json=answer)
        with pytest.raises(GitHubError, match=message):
            connect().graphql("acme", "it cannot be read", "query { a }", {})


def test_graphql_is_a_read() -> None:
    with responses.RequestsMock() as server:
        server.post(GRAPHQL, status=502)
        server.post(GRAPHQL, json={"data": {"a": 1}})
        assert connect().graphql("acme", "no", "query { a }", {}) == ({"a": 1}, ())


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://github.com/acme/fleet", True),
        ("https://github.com.evil.test/acme/fleet", False),
        ("https://dev.azure.com/acme/fleet", False),
        ("ssh://git@github.com/acme/fleet", False),
    ],
)
def test_git_gets_the_token_for_this_server_alone(url: str, sent: bool) -> None:
    basic = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert connect().authorize(url) == (basic if sent else "")


@pytest.mark.parametrize("token", ["", "  \n", "ghp_a b", "ghp_a\nb", "ghp_ä", "ghp_a\x00"])
def test_invalid_tokens(token: str) -> None:
    with pytest.raises(UsageError) as caught:
        TokenAuth(token)
    assert "ghp" not in str(caught.value)


def test_a_token_may_end_with_a_line_end() -> None:
    assert TokenAuth(f" {TOKEN}\n").token == TOKEN


def test_no_text_of_an_object_holds_the_token() -> None:
    github = connect()
    texts = [repr(TokenAuth(TOKEN)), repr(github), repr(github.quota)]
    assert all(TOKEN not in text for text in texts)


def test_the_given_environment_counts_and_not_the_processs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/absent")
    with responses.RequestsMock() as server:
        server.get(
            REPOSITORY,
            json={"id": 1},
            match=[matchers.request_kwargs_matcher({"verify": True, "proxies": {}})],
        )
        read(connect(), "acme/fleet", "")


def test_proxy_and_certificates_are_used(tmp_path: object) -> None:
    environment = {"https_proxy": "http://proxy.test:3128", "SSL_CERT_FILE": __file__}
    wanted = {"verify": __file__, "proxies": {"https": "http://proxy.test:3128"}}
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, json={"id": 1}, match=[matchers.request_kwargs_matcher(wanted)])
        read(connect(environment=environment), "acme/fleet", "")


def test_absent_certificates_are_reported_at_once() -> None:
    with pytest.raises(KalypsoError, match="SSL_CERT_FILE names /absent, which does not exist"):
        connect(environment={"SSL_CERT_FILE": "/absent"})
