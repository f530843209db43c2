"""A dispatch with a false claim ends before any job enters an environment."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played
from tests.e2e.state import state

pytestmark = pytest.mark.e2e


def heads(chain: Chain) -> dict[str, str]:
    """Return the newest commits of branches, from which the tests make false claims."""
    commits = {
        "main": chain.sandbox.git(CONTROL_PLANE).head("main"),
        "of dev": chain.sandbox.git(GITOPS).head("dev"),
    }
    return {name: commit or "" for name, commit in commits.items()}


@pytest.mark.parametrize(
    ("workflow", "inputs", "message"),
    [
        (
            "check-promote.yaml",
            {"environment": "stage", "promoted_commit_id": "main", "commit_id": "of dev"},
            "does not lie on the branch 'stage'",
        ),
        (
            "cd.yaml",
            {"environment": "production", "promoted_commit_id": "main", "promoted_from": "dev"},
            "there is no Environment 'production' on main",
        ),
    ],
)
def test_it_is_refused(
    chain: Chain, played: Played, workflow: str, inputs: Mapping[str, str], message: str
) -> None:
    commits = heads(chain)
    before = state(chain.sandbox, chain.sandbox.url)
    claims = {name: commits.get(value, value) for name, value in inputs.items()}
    chain.dispatch(workflow, claims)
    verify, entering = chain.run_due()
    assert (verify.name, verify.outcome.result) == ("verify", "failure")
    assert (entering.deploys_to, entering.outcome.result) == (inputs["environment"], "skipped")
    (annotation,) = verify.outcome.annotations
    assert annotation.level == "error"
    assert message in annotation.text
    assert "exit status 2" in verify.outcome.log
    after = state(chain.sandbox, chain.sandbox.url)
    assert after.runs.pop()[2] == "failure"
    assert after == before
