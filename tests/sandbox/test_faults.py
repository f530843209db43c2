"""Faults and interruptions: the requests that they apply to, and the state afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests
from pydantic import ValidationError

from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.faults import FAULT, Faults, Interruptions
from tests.git_repositories import commit
from tests.sandbox.served_sandbox import FLEET, ask, clone, serving, user

ISSUES = f"/repos/{FLEET}/issues"
TEMPLATE = "/repos/{owner}/{repo}/issues"
PUSH = ("POST", f"/{FLEET}.git/git-receive-pack", "git")


def kinds(faults: Faults, request: tuple[str, str, str] = ("POST", ISSUES, TEMPLATE)) -> list[str]:
    return [fault.kind for fault in faults.take(*request)]


@pytest.mark.parametrize(
    ("method", "path", "met"),
    [
        ("POST", TEMPLATE, True),
        ("*", TEMPLATE, True),
        ("POST", ISSUES, True),
        ("POST", "/repos/acme/*", True),
        ("*", "*", True),
        ("*", "*/issues", True),
        ("GET", TEMPLATE, False),
        ("POST", "/repos/acme/other/issues", False),
        ("POST", "/repos/{owner}/{repo}/labels", False),
        ("POST", "git", False),
    ],
)
def test_which_requests_a_fault_means(method: str, path: str, met: bool) -> None:
    faults = Faults()
    faults.add(Fault(method, path, "lost"))
    assert kinds(faults) == (["lost"] if met else [])


@pytest.mark.parametrize("kind", ["refused", "raced", "cut"])
def test_faults_of_pushes_meet_pushes_alone(kind: Any) -> None:
    faults = Faults()
    faults.add(Fault("*", "*", kind))
    assert kinds(faults) == []
    assert kinds(faults, ("GET", f"/{FLEET}.git/info/refs", "git")) == []
    assert kinds(faults, ("POST", f"/{FLEET}.git/git-upload-pack", "git")) == []
    assert kinds(faults, PUSH) == [kind]


def test_how_many_requests_a_fault_meets() -> None:
    faults = Faults()
    faults.add(Fault("*", "*", "lost", skip=1, count=2))
    assert [bool(kinds(faults)) for _ in range(5)] == [False, True, True, False, False]
    assert list(faults) == []
    faults.add(Fault("*", "*", "lost", count=0))
    assert all(kinds(faults) for _ in range(5))
    faults.clear()
    assert kinds(faults) == []


def test_one_fault_but_every_delay_hits_a_request() -> None:
    faults = Faults()
    for kind in ("slow", "lost", "dropped", "slow"):
        faults.add(Fault("*", "*", kind))
    assert kinds(faults) == ["slow", "lost", "slow"]
    assert kinds(faults) == ["dropped"]
    with faults.on(Fault("*", "*", "lost")):
        assert len(list(faults)) == 1
    assert list(faults) == []


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"method": "*", "path": "*", "kind": "odd"},
        {"method": "*", "path": "*", "kind": "lost", "odd": 1},
    ],
)
def test_no_fault(content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        FAULT.validate_python(content)


def titles(sandbox: Sandbox) -> list[str]:
    return [issue.title for issue in sandbox.repository(FLEET).issues.values()]


def create(sandbox: Sandbox, *faults: Fault) -> tuple[str, requests.Response | None]:
    """Create an issue, and return how the request ends."""
    with sandbox.faults.on(*faults):
        try:
            answer = ask(sandbox, "POST", ISSUES, by=user(sandbox), json={"title": "x"})
        except requests.exceptions.ChunkedEncodingError:
            return "cut off", None
        except requests.exceptions.ConnectionError:
            return "no answer", None
    return str(answer.status_code), answer


def created(kind: Any, **more: Any) -> Fault:
    return Fault("POST", TEMPLATE, kind, **more)


@pytest.mark.parametrize(
    ("fault", "end", "made"),
    [
        (created("status"), "502", 0),
        (created("status", status=503, acts=True), "503", 1),
        (created("too-many"), "429", 0),
        (created("secondary"), "403", 0),
        (created("dropped"), "no answer", 0),
        (created("lost"), "no answer", 1),
        (created("doubled"), "201", 2),
        (created("truncated"), "cut off", 1),
        (created("slow"), "201", 1),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_the_state_after_a_fault(sandbox: Sandbox, fault: Fault, end: str, made: int) -> None:
    outcome, _ = create(sandbox, fault)
    assert (outcome, titles(sandbox)) == (end, ["x"] * made)
    assert next(iter(sandbox.traffic)).fault == fault.kind
    assert create(sandbox)[0] == "201", "it is over"


@pytest.mark.parametrize("method", ["DELETE", "HEAD"])
def test_half_of_an_empty_body_is_empty(sandbox: Sandbox, method: str) -> None:
    """The head alone would be a whole answer."""
    who = user(sandbox)
    path = f"/repos/{FLEET}/labels/x"
    ask(sandbox, "POST", f"/repos/{FLEET}/labels", by=who, json={"name": "x"})
    with (
        sandbox.faults.on(Fault(method, path, "truncated")),
        pytest.raises(requests.exceptions.ConnectionError),
    ):
        ask(sandbox, method, path, by=who)
    assert ("x" in sandbox.repository(FLEET).labels) is (method == "HEAD")


def test_the_second_answer_of_a_doubled_request_is_sent(sandbox: Sandbox) -> None:
    _, answer = create(sandbox, created("doubled"))
    assert answer is not None
    assert answer.json()["number"] == 2


@pytest.mark.parametrize("kind", ["too-many", "secondary"])
def test_when_to_try_again(sandbox: Sandbox, kind: str) -> None:
    _, silent = create(sandbox, created(kind))
    _, telling = create(sandbox, created(kind, retry_after=7))
    assert silent is not None and telling is not None
    assert "retry-after" not in silent.headers
    assert telling.headers["retry-after"] == "7"
    assert "rate limit" in telling.json()["message"]


def test_a_slow_answer(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(sandbox.state, "pause", paused.append)
    slow = [created("slow", seconds=seconds) for seconds in (1.5, 2)]
    assert create(sandbox, *slow)[0] == "201"
    assert create(sandbox)[0] == "201"
    assert paused == [3.5, 0]


def test_faults_meet_azure_too(tmp_path: Path) -> None:
    with serving(tmp_path) as sandbox, sandbox.faults.on(Fault("*", "azure", "status")):
        assert ask(sandbox, "GET", "/repos/acme/fleet").status_code == 404
        assert ask(sandbox, "GET", "/msi/token").status_code == 502
        assert ask(sandbox, "GET", "/msi/token").status_code == 401


ISSUES = f"/repos/{FLEET}/issues"


@pytest.mark.parametrize(
    ("method", "path", "template", "counts"),
    [
        ("POST", ISSUES, "/repos/{owner}/{repo}/issues", True),
        ("PATCH", f"{ISSUES}/1", "/repos/{owner}/{repo}/issues/{issue_number}", True),
        ("POST", f"/{FLEET}.git/git-receive-pack", "git", True),
        ("GET", ISSUES, "/repos/{owner}/{repo}/issues", False),
        ("POST", f"/{FLEET}.git/git-upload-pack", "git", False),
        ("POST", "/graphql", "/graphql", False),
        ("POST", "/providers/Microsoft.ResourceGraph/resources", "azure", False),
    ],
)
def test_requests_that_count_as_writes(method: str, path: str, template: str, counts: bool) -> None:
    interruptions = Interruptions()
    interruptions.add(lambda: None)
    assert len(interruptions.take(method, path, template)) == counts


def test_a_read_at_a_path() -> None:
    interruptions = Interruptions()
    interruptions.add(lambda: None, path=f"*{FLEET}/issues", method="GET")
    assert not interruptions.take("GET", f"{ISSUES}/1", "/repos/{owner}/{repo}/issues/{number}")
    assert not interruptions.take("POST", ISSUES, "/repos/{owner}/{repo}/issues")
    assert interruptions.take("GET", ISSUES, "/repos/{owner}/{repo}/issues")


@pytest.mark.parametrize("after", [False, True])
def test_an_event_at_the_second_write(sandbox: Sandbox, after: bool) -> None:

    def opened(title: str) -> int:
        body = {"title": title}
        return int(ask(sandbox, "POST", ISSUES, by=user(sandbox), json=body).json()["number"])

    happened = sandbox.interruptions.add(lambda: opened("between"), skip=1, after=after)
    assert (opened("first"), happened.done()) == (1, False)
    assert opened("second") == (2 if after else 3)
    assert happened.result(timeout=0) == (3 if after else 2)
    assert opened("third") == 4


def test_somebody_pushes_first(sandbox: Sandbox, tmp_path: Path) -> None:
    ours = clone(sandbox, tmp_path)
    commit(ours.folder, {"a": "ours"})
    happened = sandbox.interruptions.add(
        lambda: sandbox.commit(FLEET, {"b": "theirs"}), path="*/git-receive-pack"
    )
    status, words = ours.push("main")
    assert status and "rejected" in words
    assert sandbox.git(FLEET).head("main") == happened.result(timeout=0)


def test_an_event_that_fails_or_never_happens_is_an_error(tmp_path: Path) -> None:
    def fail() -> None:
        raise KeyError("absent")

    with serving(tmp_path) as sandbox:
        failed = sandbox.interruptions.add(fail, path=ISSUES)
        never = sandbox.interruptions.add(lambda: None, path="*/labels")
        with sandbox.faults.on(Fault("POST", "*", "status", status=503)):
            assert ask(sandbox, "POST", ISSUES, json={}).status_code == 503
        with pytest.raises(KeyError):
            failed.result(timeout=0)
        with pytest.raises(TimeoutError):
            never.result(timeout=0)
        sandbox.interruptions.clear()
        assert ask(sandbox, "POST", f"/repos/{FLEET}/labels", json={}).status_code
        assert not never.done()
