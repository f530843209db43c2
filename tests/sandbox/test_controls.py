"""The controls under /_sandbox, for users and demos."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from kalypso_sandbox import Sandbox
from tests.sandbox.served_sandbox import FLEET, NOON, ask, user

ISSUES = f"/repos/{FLEET}/issues"


def control(sandbox: Sandbox, method: str, path: str, body: Any = None) -> Any:
    answer = ask(sandbox, method, f"/_sandbox/{path}", json=body)
    assert answer.ok, answer.text
    return answer.json() if answer.content else None


def test_faults_and_requests(sandbox: Sandbox) -> None:
    fault = {"method": "GET", "path": "*", "kind": "status", "status": 503}
    (added,) = control(sandbox, "POST", "faults", fault)
    assert added == {
        **fault,
        "count": 1,
        "skip": 0,
        "seconds": 0.0,
        "retry_after": None,
        "acts": False,
    }
    assert ask(sandbox, "GET", ISSUES).status_code == 503
    (noted,) = control(sandbox, "GET", "requests")
    assert (noted["path"], noted["status"], noted["fault"]) == (ISSUES, 503, "status")
    control(sandbox, "DELETE", "requests")
    assert control(sandbox, "GET", "requests") == []
    control(sandbox, "POST", "faults", {**fault, "count": 0})
    control(sandbox, "DELETE", "faults")
    assert control(sandbox, "GET", "faults") == []
    assert ask(sandbox, "GET", ISSUES).status_code == 404


def test_tokens_and_limits(sandbox: Sandbox) -> None:
    wanted = {"kind": "actions", "permissions": {"issues": "write"}, "repositories": [FLEET]}
    token = control(sandbox, "POST", "tokens", wanted)["token"]
    made = ask(sandbox, "POST", ISSUES, by=f"token {token}", json={"title": "x"})
    assert made.json()["user"]["login"] == "github-actions[bot]"
    sandbox.commit(FLEET, {"a": "1"})
    assert [event["name"] for event in control(sandbox, "GET", "events")] == ["push"]
    rate_limits = control(sandbox, "PATCH", "limits", {"per_hour": {"actions": 1}})
    assert rate_limits["per_hour"]["actions"] == 1 and rate_limits["per_hour"]["user"] == 5000
    assert (
        control(sandbox, "PATCH", "limits", {"contents_per_minute": 80})["per_hour"]
        == (rate_limits["per_hour"])
    )
    unchanged = control(sandbox, "PATCH", "limits", {"per_hour": {"user": 9}})
    assert unchanged["contents_per_minute"] == 80
    assert ask(sandbox, "GET", ISSUES, by=f"token {token}").status_code == 403


def test_apps(sandbox: Sandbox) -> None:
    app = control(sandbox, "POST", "apps", {"owner": "acme", "slug": "promoter"})
    now = int(NOON.timestamp())
    claims = {"iat": now, "exp": now + 60, "iss": str(app["id"])}
    signed = jwt.encode(claims, app["private_key"], algorithm="RS256")
    bearer = f"Bearer {signed}"
    installation = ask(sandbox, "GET", f"/repos/{FLEET}/installation", by=bearer).json()
    assert installation["app_slug"] == "promoter"
    path = f"/app/installations/{installation['id']}/access_tokens"
    token = ask(sandbox, "POST", path, by=bearer, json={}).json()["token"]
    assert ask(sandbox, "GET", ISSUES, by=f"token {token}").status_code == 200
    assert ask(sandbox, "GET", ISSUES, by=bearer).status_code == 403, "an App is not its token"


def test_repositories(sandbox: Sandbox) -> None:
    rule = {"pattern": "main", "required_reviews": 1}
    changes = {
        "name": "ships",
        "archived": True,
        "private": False,
        "rules": [rule],
        "actions_may_open_pull_requests": False,
    }
    answer = control(sandbox, "PATCH", f"repositories/{FLEET}", changes)
    assert answer == {"full_name": "acme/ships"}
    changed = sandbox.repository("acme/ships")
    assert changed.former_names == [FLEET]
    assert (changed.archived, changed.private) == (True, False)
    assert not changed.actions_may_open_pull_requests
    assert changed.rules[0].required_reviews == 1
    sandbox.create_repository("acme/boats")
    path = "/_sandbox/repositories/acme/ships"
    taken = ask(sandbox, "PATCH", path, json={"name": "boats"})
    assert (taken.status_code, taken.json()["message"]) == (
        422,
        "the repository acme/boats exists already",
    )


def test_runs(sandbox: Sandbox) -> None:
    path = ".github/workflows/a.yaml"
    sandbox.commit(FLEET, {path: "name: A\non: workflow_dispatch\n"})
    dispatches = f"/repos/{FLEET}/actions/workflows/a.yaml/dispatches"
    assert ask(sandbox, "POST", dispatches, by=user(sandbox), json={"ref": "main"}).ok
    (run,) = control(sandbox, "GET", f"repositories/{FLEET}/runs")
    assert (run["workflow"], run["status"], run["conclusion"]) == (path, "queued", None)
    for changes in (
        {"status": "waiting"},
        {"status": "completed", "conclusion": "cancelled"},
        {"status": "in_progress"},
    ):
        control(sandbox, "PATCH", f"runs/{run['id']}", changes)
        (changed,) = sandbox.runs(FLEET)
        now = (changed.status, changed.conclusion)
        assert now == (changes["status"], changes.get("conclusion"))
    for wrong in (
        {"status": "completed"},
        {"status": "queued", "conclusion": "success"},
        {"status": "odd"},
        {},
    ):
        url = f"/_sandbox/runs/{run['id']}"
        assert ask(sandbox, "PATCH", url, json=wrong).status_code == 422
    assert sandbox.runs(FLEET) == (changed,)


def test_clusters(sandbox: Sandbox) -> None:
    assert control(sandbox, "GET", "clusters") == {"clusters": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "faults", {"kind": "odd"}, 422),
        ("POST", "faults", {"method": "*", "path": "*", "kind": "lost", "more": 1}, 422),
        ("POST", "tokens", {"kind": "app"}, 422),
        ("POST", "apps", {}, 422),
        ("PATCH", "limits", {"per_hour": {"odd": 1}}, 422),
        ("PATCH", "repositories/acme/absent", {}, 404),
        ("PATCH", "runs/1", {"status": "queued"}, 404),
        ("PATCH", "runs/one", {"status": "queued"}, 404),
        ("GET", "repositories/acme/absent/runs", None, 404),
        ("GET", "odd", None, 404),
        ("PUT", "faults", {}, 404),
    ],
)
def test_wrong_requests(sandbox: Sandbox, method: str, path: str, body: Any, status: int) -> None:
    answer = ask(sandbox, method, f"/_sandbox/{path}", json=body)
    assert answer.status_code == status
    assert answer.json()["message"]


def test_no_page_of_a_browser_reaches_them(sandbox: Sandbox) -> None:
    form = {"Content-Type": "text/plain"}
    fault = b'{"method": "*", "path": "*", "kind": "lost"}'
    answer = ask(sandbox, "POST", "/_sandbox/faults", headers=form, data=fault)
    assert answer.status_code == 415
    assert list(sandbox.faults) == []
