"""The sandbox as a context manager, its state after a restart, and its sign-in to Azure."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from kalypso_sandbox import Sandbox
from tests.sandbox.served_sandbox import FLEET, NOON, Clock, ask, serving

ISSUES = f"/repos/{FLEET}/issues"


def test_the_state_survives_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as sandbox:
        token = sandbox.create_token()
        head = sandbox.commit(FLEET, {"a": "1"})
        who = f"token {token}"
        ask(sandbox, "POST", ISSUES, by=who, json={"title": "kept"})
    with serving(tmp_path) as sandbox:
        (issue,) = ask(sandbox, "GET", ISSUES, by=who).json()
        assert issue["title"] == "kept"
        assert issue["url"].startswith(sandbox.url)
        assert sandbox.git(FLEET).head("main") == head
        assert [event.name for event in sandbox.store.events] == ["push"]


def test_the_url_stays_unless_its_port_is_in_use(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(tmp_path / "first") as sandbox:
        url = sandbox.url
    taken = urlsplit(url).port
    assert taken
    with socket.create_server(("127.0.0.1", taken)), serving(tmp_path / "first") as sandbox:
        assert sandbox.url != url
        assert f"last port {taken} is in use" in caplog.text
        url = sandbox.url
    with serving(tmp_path / "first") as sandbox:
        assert sandbox.url == url


def test_the_environment(tmp_path: Path) -> None:
    with serving(tmp_path) as sandbox:
        url = sandbox.url
        environment = sandbox.environment("x")
        assert environment.pop("IDENTITY_HEADER")
        assert environment == {
            "GITHUB_API_URL": url,
            "GITHUB_GRAPHQL_URL": f"{url}/graphql",
            "GITHUB_SERVER_URL": url,
            "GITHUB_TOKEN": "x",
            "IDENTITY_ENDPOINT": f"{url}/msi/token",
            "KALYPSO_AZURE_RESOURCE_MANAGER": url,
        }
    with serving(tmp_path, flavour="ghes", tls=True) as sandbox:
        environment = sandbox.environment()
        assert environment["GITHUB_GRAPHQL_URL"] == f"{sandbox.url}/api/graphql"
        assert Path(environment["SSL_CERT_FILE"]).is_file()
        assert sandbox.url.startswith("https://127.0.0.1:")
        assert "GITHUB_TOKEN" not in environment


def test_commits_count_as_pushes(sandbox: Sandbox) -> None:
    first = sandbox.git(FLEET).head("main")
    second = sandbox.commit(FLEET, {"a": "1"}, message="Add a")
    sandbox.commit(FLEET, {"b": "1"}, branch="new")
    commit = sandbox.git(FLEET).commit("main")
    assert (commit.message, commit.parents, commit.author.name) == ("Add a", (first,), "somebody")
    pushes = [(event.ref, event.commit, event.actor) for event in sandbox.store.events]
    new = sandbox.git(FLEET).head("new")
    assert pushes == [("refs/heads/main", second, "somebody"), ("refs/heads/new", new, "somebody")]


def test_tokens_of_jobs_last_an_hour(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as sandbox:
        job = sandbox.create_token("actions", repositories=[FLEET])
        brief = sandbox.create_token(
            "actions", repositories=[FLEET], expires_at=NOON + timedelta(seconds=9)
        )
        person = sandbox.create_token()
        for seconds, statuses in (
            (0, [200, 200, 200]),
            (9, [200, 401, 200]),
            (3591, [401, 401, 200]),
        ):
            clock.advance(seconds=seconds)
            answers = [
                ask(sandbox, "GET", ISSUES, by=f"token {token}") for token in (job, brief, person)
            ]
            assert [answer.status_code for answer in answers] == statuses


def test_the_identity_of_a_token(sandbox: Sandbox) -> None:
    number, _ = sandbox.create_app("acme", slug="promoter")
    cases = {
        sandbox.create_token(): "somebody",
        sandbox.create_token(login="anna"): "anna",
        sandbox.create_token("actions"): "github-actions[bot]",
        sandbox.create_token("installation", owner="acme", app_id=number): "promoter[bot]",
    }
    for token, login in cases.items():
        assert sandbox.store.tokens[token].login == login
        assert login in {account.login for account in sandbox.store.accounts.values()}


def test_unknown_repositories(sandbox: Sandbox) -> None:
    with pytest.raises(LookupError, match="no repository acme/absent"):
        sandbox.git("acme/absent")
    with pytest.raises(ValueError, match="exists already"):
        sandbox.create_repository("Acme/Fleet")


def test_only_the_sign_in_to_azure_uses_https(tmp_path: Path) -> None:
    with serving(tmp_path, sign_in=True) as sandbox:
        environment = sandbox.environment()
        authority = environment["AZURE_AUTHORITY_HOST"]
        assert environment["GITHUB_API_URL"].startswith("http://127.0.0.1:")
        assert authority.startswith("https://127.0.0.1:")
        path = f"/{sandbox.azure.tenant}/v2.0/.well-known/openid-configuration"
        with requests.Session() as session:
            session.trust_env = False
            file = environment["SSL_CERT_FILE"]
            answer = session.get(authority + path, verify=file, timeout=60)
        assert answer.json()["issuer"] == f"{authority}/{sandbox.azure.tenant}/v2.0"
    with serving(tmp_path) as sandbox:
        assert "AZURE_AUTHORITY_HOST" not in sandbox.environment()
