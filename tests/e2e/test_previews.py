"""Previews of pull requests of the sample, by act: of a branch, a fork, and in a merge queue."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE
from tests.commands.preview_workflows import add_previews
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played

pytestmark = pytest.mark.e2e

FILE = "config/common.yaml"
SECRET = "hunter2-and-more"


def changed(chain: Chain, level: str) -> dict[str, str | bytes | None]:
    """Return a change of the configuration, with a secret."""
    text = chain.sandbox.git(CONTROL_PLANE).files("main")[FILE].decode()
    value = f"LOG_LEVEL: {level}\n  DB_PASSWORD: {SECRET}"
    return {FILE: text.replace("LOG_LEVEL: info", value)}


def propose(chain: Chain, head: str) -> int:
    """Open a pull request into main; return its number."""
    chain.ask(f"{CONTROL_PLANE}/pulls", {"title": "Change", "head": head, "base": "main"})
    with chain.sandbox.lock:
        return max(chain.sandbox.repository(CONTROL_PLANE).issues)


def outcomes(chain: Chain) -> list[tuple[str, str]]:
    finished = chain.run_due()
    for job in finished:
        assert SECRET not in job.outcome.log + job.outcome.summary
    return [(job.command, job.outcome.result) for job in finished]


def comments(chain: Chain, number: int) -> list[str]:
    with chain.sandbox.lock:
        issue = chain.sandbox.repository(CONTROL_PLANE).issues[number]
        return [comment.body for comment in issue.comments]


def test_pull_requests(chain: Chain, played: Played) -> None:
    del played  # before anything else happens
    sandbox = chain.sandbox
    add_previews(sandbox)
    chain.workflows.pending_runs()  # the chain does not matter here
    main = sandbox.git(CONTROL_PLANE).head("main")
    with sandbox.lock:
        sandbox.git(CONTROL_PLANE).update_ref("refs/heads/change", main, None)
    sandbox.commit(CONTROL_PLANE, changed(chain, "debug"), branch="change")
    number = propose(chain, "change")
    assert outcomes(chain) == [("ci", "success"), ("preview", "success")]
    (comment,) = comments(chain, number)
    assert "LOG_LEVEL" in comment
    assert SECRET not in comment
    sandbox.commit(CONTROL_PLANE, {"README.md": "Hello"}, branch="change")
    assert outcomes(chain) == [("ci", "success"), ("preview", "success")]
    assert len(comments(chain, number)) == 1
    sandbox.queue(CONTROL_PLANE, number)
    assert outcomes(chain) == [("ci", "success"), ("preview", "success")]
    assert len(comments(chain, number)) == 1
    sandbox.fork(CONTROL_PLANE, "mallory")
    sandbox.commit("mallory/control-plane", changed(chain, "trace"))
    number = propose(chain, "mallory:main")
    assert [command for command, _ in outcomes(chain)] == ["ci", "preview", "preview-comment"]
    (comment,) = comments(chain, number)
    assert comment.startswith("<!-- kalypso:v1 kind=preview -->")
    assert SECRET not in comment
