"""Many jobs at once."""

from __future__ import annotations

from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV


def test_ten_schedule_runs_at_once(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"schedule"})
    for _ in range(9):
        chain.start("schedule", environment="dev")
    lines = chain.run_at_once()
    assert len(lines) == 10
    assert all(line.startswith("schedule dev: ") for line in lines)
    assert not any(run.exit_code for run in chain.done)
    assert len(chain.pull_requests("dev", state="all")) == 2  # one of them belongs to the opening
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
