"""Previews of pull requests of the sample, by act: of a branch, a fork, and in a merge queue.

Each change has a secret and a hostile name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE
from tests.commands.chain import documents
from tests.commands.preview_workflows import add_previews
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played

pytestmark = pytest.mark.e2e

FILE = "config/common.yaml"
TEMPLATE = "templates/flux.yaml"
SECRET = "hunter2-and-more"
HOSTILE = "</details><img src=x onerror=alert(1)> ::error::boo @acme/owners"
CLUSTER_TYPES = 1500
BRANCH = [("ci", "success"), ("preview", "success")]


def text_of(chain: Chain, file: str) -> str:
    return chain.sandbox.git(CONTROL_PLANE).files("main")[file].decode()


def changed(chain: Chain, level: str) -> dict[str, str | bytes | None]:
    """Return a change of the configuration, with a secret and a hostile name."""
    value = f'LOG_LEVEL: {level}\n  DB_PASSWORD: {SECRET}\n  NOTE: "{HOSTILE}"'
    return {FILE: text_of(chain, FILE).replace("LOG_LEVEL: info", value)}


def propose(
    chain: Chain, head: str, changes: Mapping[str, str | bytes | None] | None = None
) -> int:
    """Open a pull request into main, of a new branch with these changes; return its number."""
    if changes:
        main = chain.sandbox.git(CONTROL_PLANE).head("main")
        with chain.sandbox.lock:
            chain.sandbox.git(CONTROL_PLANE).update_ref(f"refs/heads/{head}", main, None)
        chain.sandbox.commit(CONTROL_PLANE, changes, branch=head)
    chain.ask(f"{CONTROL_PLANE}/pulls", {"title": "Change", "head": head, "base": "main"})
    with chain.sandbox.lock:
        return max(chain.sandbox.repository(CONTROL_PLANE).issues)


def outcomes(chain: Chain) -> list[tuple[str, str]]:
    """Run the jobs; return their commands and results."""
    finished = chain.run_due()
    for job in finished:
        assert SECRET not in job.outcome.log + job.outcome.summary
        assert not re.search("^::error::boo", job.outcome.log, re.MULTILINE)
    return [(job.command, job.outcome.result) for job in finished]


def comments(chain: Chain, number: int) -> list[str]:
    with chain.sandbox.lock:
        issue = chain.sandbox.repository(CONTROL_PLANE).issues[number]
        return [comment.body for comment in issue.comments]


def without_code(comment: str) -> str:
    """Return the texts that GitHub shows as Markdown and HTML."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", comment, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_pull_requests(chain: Chain, played: Played) -> None:
    del played  # before anything else happens
    sandbox = chain.sandbox
    add_previews(sandbox)
    chain.workflows.pending_runs()  # the chain does not matter here
    number = propose(chain, "change", changed(chain, "debug"))
    assert outcomes(chain) == BRANCH
    (comment,) = comments(chain, number)
    assert "LOG_LEVEL" in comment
    assert SECRET not in comment
    assert HOSTILE in comment
    assert "onerror" not in without_code(comment)
    sandbox.commit(CONTROL_PLANE, {"README.md": "Hello"}, branch="change")
    assert outcomes(chain) == BRANCH
    assert len(comments(chain, number)) == 1
    sandbox.queue(CONTROL_PLANE, number)
    assert outcomes(chain) == BRANCH
    assert len(comments(chain, number)) == 1
    sandbox.fork(CONTROL_PLANE, "mallory")
    sandbox.commit("mallory/control-plane", changed(chain, "trace"))
    number = propose(chain, "mallory:main")
    assert [command for command, _ in outcomes(chain)] == ["ci", "preview", "preview-comment"]
    (comment,) = comments(chain, number)
    assert comment.startswith("<!-- kalypso:v1 kind=preview -->")
    assert SECRET not in comment
    assert "onerror" not in without_code(comment)


def test_three_thousand_changed_files(chain: Chain, played: Played) -> None:
    del played
    add_previews(chain.sandbox)
    names = (f"edge-{number:04}" for number in range(CLUSTER_TYPES))
    cluster_types = (documents.cluster_type(name, configType="config-map") for name in names)
    edges = "---\n".join(cluster_types).replace("{size:", "{region: north, size:")
    chain.sandbox.commit(CONTROL_PLANE, {"cluster-types/edges.yaml": edges}, branch="dev")
    chain.workflows.pending_runs()
    template = text_of(chain, TEMPLATE).replace("interval: 5m", "interval: 10m")
    number = propose(chain, "many", {**changed(chain, "warning"), TEMPLATE: template})
    assert outcomes(chain) == BRANCH
    (comment,) = comments(chain, number)
    (files,) = re.findall(r"; (\d+) changed files|: (\d+) changed files", comment)[:1]
    assert int("".join(files)) >= 2 * CLUSTER_TYPES
    assert len(comment) <= 65_536
    assert "[the complete preview is an artifact of the run](" in comment
