"""The connection: lazy objects, absent things, GraphQL, the header for git, and secrets."""

from __future__ import annotations

import base64
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
import responses
from requests import exceptions
from requests.adapters import HTTPAdapter
from responses import matchers

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    comments,
    issues,
    labels,
    merging,
    pull_requests,
    statuses,
)
from kalypso_actions.clients.github.connection import DELAYS
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.own_account import MARK
from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.certificates import server_context
from kalypso_sandbox.store import BranchRule
from tests.clients.github import connections
from tests.clients.github.connections import (
    API,
    REPOSITORY_URL,
    TOKEN,
    Clock,
    Reply,
    connect,
    read,
    read_all,
    read_optional,
    scripted,
)
from tests.clients.github.connections import connect as connect_to
from tests.git_repositories import programs

GRAPHQL = f"{API}/graphql"


def test_what_each_request_says() -> None:
    with responses.RequestsMock() as server:
        server.get(
            REPOSITORY_URL,
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
        server.get(f"{REPOSITORY_URL}/labels", json=body)
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
        server.get(f"{REPOSITORY_URL}/labels/x", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY_URL, json={"id": 1})
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
        server.get(f"{REPOSITORY_URL}/labels", json=[])
        server.get(f"{API}/repos/ACME/fleet/labels/x", status=404, json={"message": "Not Found"})
        github = connect()
        read(github, "acme/fleet", "/labels")
        assert read_optional(github, "ACME/fleet", "/labels/x") is None


def test_an_invisible_repository_is_not_empty() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/labels/x", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY_URL, status=404, json={"message": "Not Found"})
        with pytest.raises(GitHubError, match="acme/fleet: it cannot be read"):
            read_optional(connect(), "acme/fleet", "/labels/x")


def test_other_refusals_are_not_absence() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY_URL}/labels/x", status=403, json={"message": "No"})
        with pytest.raises(GitHubError):
            read_optional(connect(), "acme/fleet", "/labels/x")


def test_kept_connections_are_closed_and_opened_again(tmp_path: Path) -> None:
    """A process that runs many commands would run out of descriptors."""
    with Sandbox(tmp_path, programs()) as sandbox:
        sandbox.create_repository("acme/shop")
        github = connect(url=sandbox.url, auth=TokenAuth(sandbox.create_token()))
        adapter = github._transport._session.get_adapter(sandbox.url)
        assert isinstance(adapter, HTTPAdapter)
        for _ in range(2):
            assert read(github, "acme/shop", "")
            assert len(adapter.poolmanager.pools) == 1
            github.close()
            assert len(adapter.poolmanager.pools) == 0


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
            REPOSITORY_URL,
            json={"id": 1},
            match=[matchers.request_kwargs_matcher({"verify": True, "proxies": {}})],
        )
        read(connect(), "acme/fleet", "")


def test_proxy_and_certificates_are_used(tmp_path: object) -> None:
    environment = {"https_proxy": "http://proxy.test:3128", "SSL_CERT_FILE": __file__}
    wanted = {"verify": __file__, "proxies": {"https": "http://proxy.test:3128"}}
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL, json={"id": 1}, match=[matchers.request_kwargs_matcher(wanted)])
        read(connect(environment=environment), "acme/fleet", "")


def test_absent_certificates_are_reported_at_once() -> None:
    with pytest.raises(KalypsoError, match="SSL_CERT_FILE names /absent, which does not exist"):
        connect(environment={"SSL_CERT_FILE": "/absent"})


ATTEMPTS = [1.0, 2.0, 4.0, 8.0]


def write(github: GitHub) -> object:
    return connections.write(github, "acme/fleet", "POST", "/issues", {})


def failed(github: GitHub) -> GitHubError:
    with pytest.raises(GitHubError) as caught:
        write(github)
    return caught.value


def test_an_untrusted_certificate_is_reported_at_once(tmp_path: Path) -> None:
    clock = Clock()
    context, _ = server_context(tmp_path, datetime.now(UTC))
    with scripted(tls=context) as script:
        error = failed(connect(clock, url=script.url))
    assert "the server's certificate is not trusted" in str(error)
    assert "SSL_CERT_FILE" in error.problem.advice
    assert (error.uncertain, clock.waits) == (False, [])


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_of_the_environment_is_trusted(tmp_path: Path, variable: str) -> None:
    context, authority = server_context(tmp_path, datetime.now(UTC))
    with scripted(Reply(201, {"id": 1}), tls=context) as script:
        github = connect(url=script.url, environment={variable: str(authority)})
        assert write(github) == {"id": 1}


def test_a_name_that_cannot_be_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    clock = Clock()
    error = failed(connect(clock))
    assert "the server's name cannot be resolved" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)


def test_a_proxy_that_does_not_answer() -> None:
    with scripted() as script:
        proxy = script.url
    clock = Clock()
    error = failed(connect(clock, environment={"HTTPS_PROXY": proxy}))
    assert "the proxy cannot be reached, or refuses the connection" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)


def test_a_proxy_that_refuses_sees_no_token() -> None:
    clock = Clock()
    with scripted(*[Reply(407, {})] * 5) as proxy:
        error = failed(connect(clock, environment={"HTTPS_PROXY": proxy.url}))
    assert "the proxy cannot be reached, or refuses the connection" in str(error)
    assert (error.uncertain, clock.waits) == (False, ATTEMPTS)
    assert proxy.requests == ["CONNECT api.github.com:443"] * 5
    assert proxy.authorizations == [None] * 5


@pytest.mark.parametrize(
    ("raised", "words", "uncertain"),
    [
        (requests.ConnectTimeout(), "the server cannot be reached", False),
        (requests.ReadTimeout(), "the server did not answer in time", True),
        (requests.ConnectionError("reset"), "the connection was lost", True),
        (exceptions.SSLError("EOF occurred"), "the connection was lost", True),
        (exceptions.ChunkedEncodingError(), "the connection was lost", True),
        (exceptions.ContentDecodingError(), "the connection was lost", True),
        (exceptions.InvalidURL("hush"), "the request cannot be sent (InvalidURL)", False),
        (OSError("hush"), "the request cannot be sent (OSError)", False),
    ],
)
def test_what_failures_mean(raised: Exception, words: str, uncertain: bool) -> None:
    with responses.RequestsMock() as server:
        server.post(f"{API}/repos/acme/fleet/issues", body=raised)
        error = failed(connect())
    assert str(error).startswith(f"acme/fleet: it cannot be written: {words}")
    assert error.uncertain == uncertain
    assert "hush" not in str(error)
    assert error.__cause__ is None


FLEET = "acme/fleet"
LAG = 3.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sandbox(tmp_path: Path, clock: Clock) -> Iterator[Sandbox]:
    with Sandbox(tmp_path, programs(), now=lambda: clock.now, lag=LAG) as made:
        made.create_repository(FLEET, {"README": "x"})
        yield made


@pytest.fixture
def github(sandbox: Sandbox, clock: Clock) -> GitHub:
    return connect_here(sandbox, clock)


def connect_here(sandbox: Sandbox, clock: Clock) -> GitHub:
    """Return the connection of a job; people see everything at once."""
    environment = sandbox.environment()
    server = GitHubServer.of_environment(environment)
    auth = TokenAuth(sandbox.create_token("actions", owner="acme", repositories=[FLEET]))
    return GitHub(server, auth, environment, clock.sleep, lambda: clock.now)


def push(sandbox: Sandbox, github: GitHub, text: str = "1") -> str:
    """Push to the branch of the proposal, as the run of this connection."""
    git = sandbox.git(FLEET)
    if git.head("proposal") is None:
        git.update_ref("refs/heads/proposal", git.head("main"), None)
        with sandbox.lock:
            repository = sandbox.repository(FLEET)
            repository.branches_created_at["proposal"] = sandbox.store.now
    commit = sandbox.commit(FLEET, {"file": text}, branch="proposal")
    github.recent_writes.add_push(FLEET, "proposal", commit)
    return commit


def open_pull(github: GitHub, *label: str) -> int:
    pull, _ = pull_requests.ensure(
        github, FLEET, head="proposal", base="main", title="t", body=f"{MARK}-->", labels=label
    )
    return pull.number


def test_a_new_pull_request_of_a_new_branch(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    number = open_pull(github, "kalypso")
    assert labels.missing(["kalypso"], pull_requests.get(github, FLEET, number).labels) == []
    pause_between_writes = 1.0
    assert clock.waits == [1.0, 2.0, pause_between_writes, 1.0, 2.0]


EDITS: dict[str, Callable[[GitHub, int], object]] = {
    "label": lambda github, number: labels.add(github, FLEET, number, ["one"]),
    "comment": lambda github, number: comments.ensure(github, FLEET, number, "<!-- m -->", "c"),
    "edit": lambda github, _: open_pull(github),
    "close": lambda github, number: pull_requests.close(
        github, FLEET, number, mark="<!-- m -->", comment="c"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_right_after_a_pull_request_was_opened(
    sandbox: Sandbox, github: GitHub, clock: Clock, edit: str
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.waits.clear()
    with sandbox.lock:
        sandbox.repository(FLEET).issues[number].body = f"{MARK}-->\nby somebody"
    EDITS[edit](github, number)
    assert clock.waits == [1.0, 2.0]


def test_a_comment_right_after_an_issue_was_opened(github: GitHub, clock: Clock) -> None:
    issue, _ = issues.ensure(github, FLEET, title="t", body="b", labels=["kalypso"])
    comments.ensure(github, FLEET, issue.number, "<!-- m -->", "c")
    assert clock.waits == [1.0, 2.0]


@pytest.mark.parametrize("pushed_at", ["opening", "later"])
def test_auto_merge_of_a_new_pull_request_or_head(
    sandbox: Sandbox, github: GitHub, clock: Clock, pushed_at: str
) -> None:
    with sandbox.lock:
        repository = sandbox.repository(FLEET)
        repository.rules.append(BranchRule(pattern="main", required_contexts=["build"]))
        repository.allow_auto_merge = True
    head = push(sandbox, github)
    number = open_pull(github)
    if pushed_at == "later":
        clock.sleep(60)
        head = push(sandbox, github, "2")
    clock.waits.clear()
    sandbox.traffic.clear()
    assert merging.enable_auto_merge(github, FLEET, number, head=head) is None
    assert clock.waits == [1.0, 2.0]
    reads = [
        exchange
        for exchange in sandbox.traffic
        if exchange.method == "GET" and exchange.status == 200
    ]
    assert len(reads) == 1


def test_a_merge_waits_for_the_head_that_this_run_has_pushed(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    head = push(sandbox, github, "2")
    assert isinstance(merging.merge(github, FLEET, number, head=head), merging.Merged)
    assert clock.waits == [1.0, 2.0]


def test_a_merge_does_not_wait_for_the_head_of_another_run(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    head = push(sandbox, connect_here(sandbox, clock), "2")
    refused = merging.merge(github, FLEET, number, head=head)
    assert isinstance(refused, merging.Refused)
    assert refused.reason.startswith("Head branch was modified")
    assert clock.waits == []


def test_a_pull_request_of_another_run_is_not_awaited(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    other = connect_here(sandbox, clock)
    clock.waits.clear()
    with pytest.raises(GitHubError, match="Not Found"):
        labels.add(other, FLEET, number, ["one"])
    assert clock.waits == []


def test_an_older_pull_request_of_this_run_is_not_awaited(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    with sandbox.lock:
        del sandbox.repository(FLEET).issues[number]
    with pytest.raises(GitHubError, match="Not Found"):
        labels.add(github, FLEET, number, ["one"])
    assert clock.waits == []


def test_a_wait_ends(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    sandbox.store.lag = 1000.0
    with pytest.raises(GitHubError, match="head invalid"):
        open_pull(github)
    assert clock.waits == list(DELAYS)


def test_a_status_of_a_commit_that_this_run_has_pushed() -> None:
    clock, commit = Clock(), "1" * 40
    unknown = Reply(422, {"message": f"No commit found for SHA: {commit}"})
    nothing = Reply(200, {"data": {"repository": {"c0": None}}})
    with scripted(nothing, unknown, nothing, Reply(201, {})) as server:
        github = connect_to(clock, url=server.url)
        github.recent_writes.add_push(FLEET, "proposal", commit)
        assert statuses.post(github, FLEET, commit, CommitStatus("dev", "pending", "Promoted"))
    assert clock.waits == [1.0]


def test_other_refusals_are_not_repeated(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(LAG)
    clock.waits.clear()
    fault = Fault("POST", "*/labels", "status", status=403, count=0)
    with sandbox.faults.on(fault), pytest.raises(GitHubError):
        labels.add(github, FLEET, number, ["one"])
    assert clock.waits == []
