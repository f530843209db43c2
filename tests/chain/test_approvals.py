"""Environments with required reviewers."""

from __future__ import annotations

from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV, IN_STAGE, TO_DEV

DAYS = 3 * 24 * 3600


def records(chain: Chain) -> list[tuple[str, str | None]]:
    """Return status and conclusion of the runs that dispatches started."""
    with chain.acme.sandbox.lock:
        runs = chain.acme.sandbox.repository("acme/control-plane").runs
        return [(run.status, run.conclusion) for run in runs]


def test_nothing_enters_before_somebody_approves_it(chain: Chain) -> None:
    before = chain.has("stage")
    chain.requires_approval("stage")
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV[:2]
    assert (chain.waiting, chain.waiting_for_approval) == ([], ["cd stage"])
    assert records(chain)[-1] == ("waiting", None)
    chain.wait(DAYS)
    assert (chain.run_everything(), chain.has("stage")) == ([], before)
    chain.approve("cd stage")
    assert (chain.waiting, chain.waiting_for_approval) == (["cd stage"], [])
    assert chain.run_everything() == FROM_DEV[2:]
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE[:1]
    assert chain.status(commit, "stage") != "Deployed"
    chain.approve("check-promote")
    assert chain.run_everything() == IN_STAGE[1:]
    chain.expect_everywhere(commit, RELEASE="one")
    assert {"waiting", "queued"}.isdisjoint(status for status, _ in records(chain))


def test_what_somebody_refuses_ends(chain: Chain) -> None:
    before = chain.has("dev")
    chain.requires_approval("dev")
    chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV[:1]
    chain.refuse("cd")
    assert (chain.run_everything(), chain.waiting, chain.waiting_for_approval) == ([], [], [])
    assert records(chain)[-1] == ("completed", "failure")
    assert chain.has("dev") == before


def test_all_jobs_of_a_run_are_run_again(chain: Chain) -> None:
    """The jobs before the approval run again too, and the approval is required again."""
    chain.requires_approval("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.approve("cd dev")
    assert chain.run_everything() == TO_DEV[1:]
    chain.run_again("cd dev")
    assert chain.run_everything() == []
    assert chain.waiting_for_approval == ["cd dev"]
    chain.approve("cd dev")
    assert chain.run_everything()[0] == "cd dev: unchanged"
    assert chain.done[-2].run.attempt == 2
    assert chain.has("dev") == commit


def test_runs_at_once_wait_as_well(chain: Chain) -> None:
    chain.requires_approval("stage")
    for _ in range(2):
        chain.start("cd", environment="stage", promoted_commit_id=chain.has("stage"))
    assert chain.run_at_once() == []
    assert chain.waiting_for_approval == ["cd stage", "cd stage"]
