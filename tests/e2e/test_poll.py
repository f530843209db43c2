"""A workload's repository reports its change, and schedule proposes the new tree."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS, OWNER
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played

pytestmark = pytest.mark.e2e

ENVIRONMENTS = ("dev", "stage")
"""Those of the first four acts."""


def test_a_changed_workload_is_proposed(chain: Chain, played: Played) -> None:
    repository, file = f"{OWNER}/monitoring", "workload/workload.yaml"
    workload = chain.sandbox.git(repository).files("main")[file].decode()
    chain.sandbox.commit(repository, {file: workload.replace("./agent", "./agent/v2")})
    chain.ask(f"{CONTROL_PLANE}/dispatches", {"event_type": "kalypso-workload-changed"})
    finished = chain.run_due()
    assert [(job.run.file, job.environment, job.outcome.result) for job in finished] == [
        ("poll.yaml", "", "success"),
        *(("schedule.yaml", environment, "success") for environment in ENVIRONMENTS),
    ]
    for environment in ENVIRONMENTS:
        files = chain.sandbox.git(GITOPS).files(f"kalypso/{environment}")
        changed = [path for path, content in files.items() if b"./agent/v2" in content]
        assert changed, environment
