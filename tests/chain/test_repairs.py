"""poll repeats every lost start, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from kalypso_sandbox.store import BranchRule
from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import GITOPS

STARTS = (
    *("cd dev", "schedule dev", "notify dev", "check-promote dev"),
    *("cd stage", "schedule stage", "notify stage", "check-promote stage"),
)


def poll(chain: Chain, *, after: float = 700) -> list[str]:
    """Let time pass, and run poll with everything that it starts."""
    chain.wait(after)
    chain.start("poll")
    return chain.run_everything()


def at_rest(chain: Chain) -> None:
    """Assert that poll is at rest after its second run."""
    poll(chain)
    poll(chain)
    assert poll(chain) == ["poll: polled"]


def runs(chain: Chain, first: int) -> Counter[str]:
    """Return the number of runs of each command for each environment."""
    return Counter(f"{run.command} {run.environment}".strip() for run in chain.done[first:])


@pytest.mark.parametrize("lost", STARTS)
def test_a_lost_start_is_repeated(chain: Chain, lost: str) -> None:
    first = len(chain.done)
    chain.drop_next_run(lost)
    commit = chain.merge_to_main(RELEASE="one")
    chain.settle()
    for _ in range(2):
        poll(chain)
        chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
    assert chain.to_be_lost == set()
    counts = runs(chain, first)
    assert all(counts[name] <= 3 + counts["poll"] for name in counts), counts
    at_rest(chain)


def test_a_lost_start_after_a_push_to_an_environment_is_repeated(chain: Chain) -> None:
    chain.drop_next_run("start-schedule dev")
    chain.configure("dev", REGION="north")
    assert chain.run_everything() == []
    assert poll(chain)[:2] == ["poll: polled, starts dev", "schedule dev: created"]
    chain.settle()
    chain.expect("dev", chain.has("dev"), REGION="north")
    at_rest(chain)


def test_a_lost_notification_of_a_correction_is_repeated(chain: Chain) -> None:
    """The merge of a correction promotes a failed commit, even if its start is lost."""
    chain.break_cluster("dev", "large", "RELEASE: one")
    commit = chain.merge_to_main(RELEASE="one")
    chain.settle()
    assert chain.status(commit, "dev").startswith("Failed to deploy")
    chain.configure("dev", REGION="west", RELEASE="mended")
    chain.run_everything()
    chain.drop_next_run("notify dev")
    chain.settle()
    assert chain.status(commit, "dev").startswith("Failed to deploy")
    poll(chain)
    chain.settle()
    chain.expect("dev", commit, RELEASE="mended")
    chain.expect("stage", commit, RELEASE="one")
    at_rest(chain)


def test_a_start_is_repeated_twice_at_most_and_then_reported_as_a_failure(chain: Chain) -> None:
    chain.drop_next_run("cd dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    for _ in range(2):
        chain.drop_next_run("cd dev")
        assert poll(chain)[0] == "poll: polled"
        assert chain.to_be_lost == set()
    assert poll(chain) == ["poll: failed"]
    (problem,) = chain.done[-1].outcome.document.problems
    assert problem.message.startswith("environment dev: 3 starts of cd.yaml for ")
    state, description = chain.acme.records(commit)["kalypso / cd dev"]
    assert (state, description) == ("failure", "Given up: ci")
    assert poll(chain) == ["poll: polled"]
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_lost_start_of_a_first_environment_by_input_is_repeated(open_chain: OpenChain) -> None:
    """dev would be the first environment without the input."""
    first = {"first-environments": "stage"}
    chain = open_chain(Layout(inputs={"ci": first, "poll": first}))
    commit = chain.merge_to_main(RELEASE="one")
    chain.drop_next_run("cd stage")
    assert chain.run_everything() == ["ci: checked, starts stage"]
    assert poll(chain)[:2] == ["poll: polled", "cd stage: written"]
    assert chain.status(commit, "stage") == "Promoted"
    assert commit not in chain.statuses("dev")


def test_a_lost_start_with_force_is_repeated_with_force(chain: Chain) -> None:
    """A person wants removed manifests back; other runs do not bring them back."""
    commit = chain.has("dev")
    chain.acme.commit({"large/shop-web/platform-config.yaml": "drift\n"}, "dev", GITOPS)
    chain.run_everything()
    chain.drop_next_run("schedule dev")
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    assert chain.run_everything() == ["cd dev: unchanged"]
    chain.start("schedule", environment="dev")
    assert chain.run_everything() == ["schedule dev: unchanged"]
    assert poll(chain)[:2] == ["poll: polled, starts dev", "schedule dev: created"]
    at_rest(chain)


def test_a_start_that_was_refused_is_not_repeated(chain: Chain) -> None:
    """The commit of the start is no longer on the branch, and no later start changes that."""
    before = chain.acme.head("dev", GITOPS)
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything(but={"check-promote"})
    merged = chain.acme.head("dev", GITOPS)
    chain.acme.reset("dev", before, GITOPS)
    assert chain.run_everything() == ["check-promote dev: refused"]
    for _ in range(3):
        assert not any("check-promote" in line for line in poll(chain))
    chain.acme.reset("dev", merged, GITOPS)
    chain.start("schedule", environment="dev")
    chain.run_everything()
    assert chain.status(commit, "dev") == "Deployed"


def test_a_disabled_workflow_stays_disabled(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(inputs={"ci": {"start-cd": "false"}}))
    before = chain.has("dev")
    chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == ["ci: checked"]
    at_rest(chain)
    assert chain.has("dev") == before


def test_a_pull_request_that_conflicts_is_made_again(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    path = "large/shop-web/platform-config.yaml"
    text = chain.acme.files("dev", GITOPS)[path]
    chain.acme.commit({path: text.replace("zero", "other")}, "dev", GITOPS)
    chain.run_everything()
    number = chain.open_pull_request("dev")["number"]
    assert chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"] is False
    assert poll(chain)[:2] == ["poll: polled, starts dev", "schedule dev: updated, promoted"]
    assert chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"] is True
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")


def test_a_merge_that_a_check_holds_up_is_tried_again(open_chain: OpenChain) -> None:
    chain = open_chain(Layout(inputs={"schedule": {"auto-merge": "always"}}))
    with chain.acme.sandbox.lock:
        rules = [BranchRule(pattern="dev", required_contexts=["tests"])]
        chain.acme.sandbox.repository(GITOPS).rules = rules
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    pull = chain.open_pull_request("dev")
    poll(chain)
    assert poll(chain) == ["poll: polled"]
    chain.acme.ask(
        "POST",
        f"{GITOPS}/statuses/{pull['head']['sha']}",
        {"state": "success", "context": "tests"},
    )
    assert poll(chain)[:2] == ["poll: polled, starts dev", "schedule dev: merged, promoted"]
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
