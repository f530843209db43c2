"""GitHub's records of the chain's runs show their states."""

from __future__ import annotations

import pytest

from tests.chain.driver import Chain
from tests.commands.chain.killing import KilledError, killed_after
from tests.commands.chain.organisation import CONTROL_PLANE


def records(chain: Chain) -> list[tuple[str, str, str | None]]:
    """Return file name, status and conclusion of the control plane's runs, oldest first."""
    return [
        (run.workflow.rpartition("/")[2], run.status, run.conclusion)
        for run in chain.acme.sandbox.runs(CONTROL_PLANE)[FIRST:]
    ]


FIRST = 4
"""The number of runs of Acme's opening: schedule of dev and of stage, twice each."""


def test_a_run_is_queued_then_in_progress_then_completed(chain: Chain) -> None:
    seen: list[list[tuple[str, str, str | None]]] = []
    chain.start("poll")
    assert chain.waiting == ["poll"]
    assert records(chain) == [("poll.yaml", "queued", None)]
    chain.meanwhile(1, lambda: seen.append(records(chain)))
    chain.run_everything()
    assert seen == [[("poll.yaml", "in_progress", None)]]
    assert records(chain) == [("poll.yaml", "completed", "success")]


def test_a_failed_run_is_a_failure(chain: Chain) -> None:
    chain.start("schedule", environment="nowhere")
    chain.run_everything()
    assert records(chain) == [("schedule.yaml", "completed", "failure")]


def test_a_lost_start_leaves_no_live_run(chain: Chain) -> None:
    chain.drop_next_run("poll")
    chain.start("poll")
    assert chain.run_everything() == []
    assert records(chain) == [("poll.yaml", "completed", "cancelled")]


def test_a_killed_run_is_cancelled(chain: Chain) -> None:
    chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    with killed_after(0), pytest.raises(KilledError):
        chain.run(chain.take(0))
    assert records(chain) == [("cd.yaml", "completed", "cancelled")]
