"""Environments with required reviewers."""

from __future__ import annotations

import pytest

from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import AZURE_CLIENT, Layout
from tests.chain.run_lines import FROM_DEV, IN_STAGE, TO_DEV
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE

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


WAITS = Layout(inputs={"check-promote": {"timeout": "9h", "poll-interval": "10m"}})
FILE = ".github/workflows/check-promote.yaml"
ENVIRONMENT = "\n    environment: ${{ inputs.environment }}\n"
CONTINUES = """
    environment: >-
      ${{ inputs.started_at == '' && inputs.environment ||
      github.triggering_actor != 'kalypso[bot]' && inputs.environment || '' }}
"""


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_continued_run_asks_again_unless_the_workflow_says_otherwise(
    open_chain: OpenChain, goes_on: bool
) -> None:
    """A job ends after six hours, so another run continues it.

    If that run has no environment, it signs in to Azure with another subject.
    """
    chain = open_chain(WAITS)
    if goes_on:
        text = chain.acme.files("main")[FILE]
        assert ENVIRONMENT in text
        chain.acme.commit({FILE: text.replace(ENVIRONMENT, CONTINUES)})
        subjects = [
            f"repo:{CONTROL_PLANE}:{place}" for place in ("ref:refs/heads/main", "environment:dev")
        ]
        chain.acme.sandbox.azure.register(*subjects, client_id=AZURE_CLIENT)
    chain.run_everything()
    chain.requires_approval("dev")
    chain.slow_cluster("dev", "large", 6 * 3600)
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.approve("cd dev")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert chain.waiting_for_approval == ["check-promote dev"]
    chain.approve("check-promote dev")
    chain.run_everything()
    assert bool(chain.waiting_for_approval) is not goes_on
    assert (chain.status(commit, "dev") == "Deployed") is goes_on
    # A person who claims that a run is to be continued needs the approval all the same.
    merged = chain.acme.head("dev", "acme/gitops") or ""
    chain.start(
        "check-promote",
        environment="dev",
        promoted_commit_id=commit,
        commit_id=merged,
        started_at="2026-03-01T12:00:00+00:00",
    )
    chain.run_everything()
    assert chain.waiting_for_approval


@pytest.mark.parametrize("change", ["the environment goes back", "a cluster fails"])
def test_after_an_approval_everything_is_read_again(chain: Chain, change: str) -> None:
    """An approval may come days after the clusters complied."""
    before = chain.has("dev")
    chain.requires_approval("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.approve("cd dev")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert chain.waiting_for_approval == ["check-promote dev"]
    chain.wait(DAYS)
    if change == "a cluster fails":
        chain.break_cluster("dev", "large", "one")
        chain.wait(600)
    else:
        text = documents.base_repo(chain.acme.url(), before)
        chain.acme.commit({"base-repo.yaml": text}, "dev")
    chain.approve("check-promote dev")
    lines = chain.run_everything(but={"start-schedule", "schedule"})
    assert not any("starts stage" in line for line in lines), lines
    assert chain.status(commit, "dev") != "Deployed"
