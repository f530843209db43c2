"""A dispatch with a false claim, or by a bot, ends before any job enters an environment."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS, OF_NOTIFIER, OWNER
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played
from tests.e2e.state import state
from tests.git_repositories import git

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
    is_refused(chain, workflow, {n: commits.get(v, v) for n, v in inputs.items()}, message)


@pytest.mark.parametrize(
    ("workflow", "promoted_from", "message"),
    [
        ("cd.yaml", "", "only a person may"),
        ("cd.yaml", "dev", "but no status 'kalypso / "),
        ("rollback.yaml", "", "only a person may"),
    ],
)
def test_the_notifier_promotes_nothing(
    chain: Chain, played: Played, workflow: str, promoted_from: str, message: str
) -> None:
    """Start workflows with the permissions of the key in the GitOps repository."""
    app = int(chain.sandbox.repository(GITOPS).variables["KALYPSO_NOTIFIER_APP_ID"])
    notifier = chain.sandbox.create_token(
        "installation", OF_NOTIFIER, owner=OWNER, repositories=[CONTROL_PLANE], app_id=app
    )
    inputs = {"environment": "stage"}
    if workflow == "cd.yaml":
        repository = chain.sandbox.git(CONTROL_PLANE).git_dir
        unrecorded = git(repository, "rev-list", "--max-parents=0", "main").strip()
        inputs |= {"promoted_commit_id": unrecorded, "promoted_from": promoted_from}
    is_refused(chain, workflow, inputs, message, notifier)


def is_refused(
    chain: Chain, workflow: str, inputs: Mapping[str, str], message: str, token: str = ""
) -> None:
    before = state(chain.sandbox, chain.sandbox.url)
    chain.dispatch(workflow, inputs, token)
    verify, *others = chain.run_due()
    assert (verify.name, verify.outcome.result) == ("verify", "failure")
    # The job of cd has a condition of its own, so act leaves the job out.
    entering = [] if workflow == "cd.yaml" else [(inputs["environment"], "skipped")]
    assert [(job.deploys_to, job.outcome.result) for job in others] == entering
    (annotation,) = verify.outcome.annotations
    assert annotation.level == "error"
    assert message in annotation.text
    assert "exit status 2" in verify.outcome.log
    after = state(chain.sandbox, chain.sandbox.url)
    assert after.runs.pop()[2] == "failure"
    assert after == before
