"""Events in the middle of a run, at one of its writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_sandbox import Fault
from kalypso_sandbox.faults import Interruptions
from tests.git_repositories import commit
from tests.sandbox.git_clone import clone
from tests.sandbox.served_sandbox import FLEET, ask, serving

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
def test_an_event_at_the_second_write(tmp_path: Path, after: bool) -> None:
    with serving(tmp_path) as sandbox:
        token = f"token {sandbox.create_token()}"

        def opened(title: str) -> int:
            body = {"title": title}
            return int(
                ask(sandbox, "POST", ISSUES, authorization=token, json=body).json()["number"]
            )

        happened = sandbox.interruptions.add(lambda: opened("between"), skip=1, after=after)
        assert (opened("first"), happened.done()) == (1, False)
        assert opened("second") == (2 if after else 3)
        assert happened.result(timeout=0) == (3 if after else 2)
        assert opened("third") == 4


def test_somebody_pushes_first(tmp_path: Path) -> None:
    with serving(tmp_path) as sandbox:
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
