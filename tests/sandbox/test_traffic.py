"""Every request is recorded, without credentials."""

from __future__ import annotations

import base64

import jwt
import pytest

from kalypso_sandbox import Exchange, Fault, Sandbox, state
from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.state import Traffic
from tests.sandbox.served_sandbox import FLEET, NOON, ask

ISSUES = f"/repos/{FLEET}/issues"
TEMPLATE = "/repos/{owner}/{repo}/issues"


def test_a_request_and_its_answer(sandbox: Sandbox) -> None:
    token = sandbox.create_token(login="anna")
    ask(sandbox, "POST", f"{ISSUES}?a=1", by=f"token {token}", json={"title": "x"})
    (exchange,) = sandbox.traffic
    assert (exchange.method, exchange.path) == ("POST", f"{ISSUES}?a=1")
    assert (exchange.template, exchange.query) == (TEMPLATE, {"a": "1"})
    assert (exchange.status, exchange.fault) == (201, "")
    assert exchange.request_body == {"title": "x"}
    assert exchange.response_body["title"] == "x"
    assert exchange.identity == "anna (user)"
    assert exchange.permissions == ("issues: write",)
    assert exchange.response_headers["x-ratelimit-resource"] == "core"
    assert "user-agent" in exchange.request_headers
    assert token not in repr(exchange)


@pytest.mark.parametrize("scheme", ["token", "Bearer", "Basic"])
def test_no_credential_is_kept(sandbox: Sandbox, scheme: str) -> None:
    token = sandbox.create_token()
    value = base64.b64encode(f"x:{token}".encode()).decode() if scheme == "Basic" else token
    for path in (ISSUES, f"/{FLEET}.git/info/refs?service=git-upload-pack"):
        answer = ask(
            sandbox,
            "GET",
            path,
            by=f"{scheme} {value}",
            headers={"Cookie": token, "Proxy-Authorization": token},
        )
        assert answer.status_code == 200
    assert len(sandbox.traffic) == 2
    assert token not in repr(list(sandbox.traffic))
    assert value not in repr(list(sandbox.traffic))


def test_no_token_that_is_given_is_kept(sandbox: Sandbox) -> None:
    number, key = sandbox.create_app("acme")
    now = int(NOON.timestamp())
    claims = {"iat": now, "exp": now + 60, "iss": str(number)}
    bearer = f"Bearer {jwt.encode(claims, key, algorithm='RS256')}"
    installation = sandbox.store.apps[number].installations["acme"].id
    path = f"/app/installations/{installation}/access_tokens"
    made = ask(sandbox, "POST", path, by=bearer, json={})
    environment = sandbox.environment()
    header = {"X-IDENTITY-HEADER": environment["IDENTITY_HEADER"]}
    asked = "/msi/token?api-version=2019-08-01&resource=x"
    managed = ask(sandbox, "GET", asked, headers=header)
    job = JobIdentity(FLEET, environment="dev")
    asking = sandbox.azure.job_environment(sandbox.url, job)
    bearer = f"Bearer {asking['ACTIONS_ID_TOKEN_REQUEST_TOKEN']}"
    assertion = ask(sandbox, "GET", "/_services/oidc/idtoken", by=bearer)
    application = sandbox.azure.register(secret="s3cret")
    form = {
        "grant_type": "client_credentials",
        "client_id": application.client_id,
        "client_secret": "s3cret",
        "scope": "x/.default",
    }
    signed_in = ask(sandbox, "POST", f"/{sandbox.azure.tenant}/oauth2/v2.0/token", data=form)
    secrets = [
        made.json()["token"],
        managed.json()["access_token"],
        assertion.json()["value"],
        signed_in.json()["access_token"],
        environment["IDENTITY_HEADER"],
        "s3cret",
    ]
    kept = repr(list(sandbox.traffic))
    assert [exchange.response_body is not None for exchange in sandbox.traffic] == [True] * 4
    assert not [secret for secret in secrets if secret in kept]


def test_the_record_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_EXCHANGES", 3)
    monkeypatch.setattr(state, "MAX_SIZE", 10)
    kept = Traffic()

    def add(path: str, size: int) -> list[str]:
        blank: dict[str, str] = {}
        body = b"x" * size
        kept.add(Exchange("GET", path, "git", blank, blank, b"", 200, blank, body, "", (), ""))
        return [exchange.path for exchange in kept]

    assert [add(path, 1) for path in "abcd"][-1] == ["b", "c", "d"]
    assert add("e", 9) == ["d", "e"]
    assert add("f", 0) == ["d", "e", "f"]
    kept.clear()
    assert add("g", 10) == ["g"]


def paths(sandbox: Sandbox) -> list[tuple[str, str, int]]:
    return [(exchange.template, exchange.path, exchange.status) for exchange in sandbox.traffic]


def test_the_template_of_each_path(sandbox: Sandbox) -> None:
    number = sandbox.repository(FLEET).id
    refs = f"/{FLEET}/info/refs?service=git-upload-pack"
    for path in ("/nothing", f"/api/v3{ISSUES}", f"/repositories/{number}/issues", refs):
        ask(sandbox, "GET", path)
    ask(sandbox, "POST", "/api/graphql", json={"query": "{}"})
    ask(sandbox, "GET", "/msi/token")
    ask(sandbox, "GET", "/_sandbox/requests")
    assert paths(sandbox) == [
        ("", "/nothing", 404),
        (TEMPLATE, ISSUES, 404),
        (TEMPLATE, f"/repositories/{number}/issues", 404),
        ("git", refs, 401),
        ("/graphql", "/graphql", 401),
        ("azure", "/msi/token", 401),
    ]
    assert [exchange.status for exchange in sandbox.traffic.of("GET", "git")] == [401]
    sandbox.traffic.clear()
    assert len(sandbox.traffic) == 0


def test_a_lost_answer_is_recorded_as_none(sandbox: Sandbox) -> None:
    sandbox.faults.add(Fault("GET", "*", "status", status=503))
    ask(sandbox, "GET", ISSUES)
    (exchange,) = sandbox.traffic
    assert (exchange.status, exchange.fault, exchange.identity) == (503, "status", "")
    assert exchange.response_body == {"message": "Server Error"}
