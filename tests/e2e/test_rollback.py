"""A person takes an environment back; then no job enters it for the commit that was left."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played

pytestmark = pytest.mark.e2e

STAGE = "stage environment"


def test_an_environment_goes_back_and_is_held_there(chain: Chain, played: Played) -> None:
    statuses = chain.sandbox.repository(CONTROL_PLANE).statuses
    deployed = [status for status in statuses if status.description == "Deployed"]
    good, bad = dict.fromkeys(each.commit for each in deployed if each.context == STAGE)

    chain.dispatch("rollback.yaml", {"environment": "stage", "reason": "incident 42"})
    verify, rollback, schedule = chain.run_due()
    assert [job.outcome.result for job in (verify, rollback, schedule)] == ["success"] * 3
    assert (verify.name, verify.deploys_to) == ("verify", "")
    assert (rollback.name, rollback.deploys_to) == ("rollback", "stage")
    assert rollback.outcome.outputs == {"changed": "true", "commit": good}
    assert (schedule.run.file, schedule.environment) == ("schedule.yaml", "stage")
    branch = chain.sandbox.git(CONTROL_PLANE).head("stage")

    chain.dispatch("cd.yaml", {"environment": "stage", "promoted_commit_id": bad})
    (verify,) = chain.run_due()
    assert (verify.name, verify.outcome.result) == ("verify", "success")
    reason = verify.outcome.outputs["waiting-for"]
    assert f"rolled back from {bad[:7]} (incident 42)" in reason
    assert chain.sandbox.git(CONTROL_PLANE).head("stage") == branch
