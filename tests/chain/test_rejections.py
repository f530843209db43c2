"""Proposals that people close, revert or change by hand."""

from __future__ import annotations

from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV, IN_STAGE, TO_DEV

CONFIG = "large/shop-web/platform-config.yaml"


def warnings(chain: Chain) -> list[str]:
    """Return the messages of the newest step."""
    outcome = chain.done[-1].outcome
    return [warning.message for warning in outcome.document.warnings]


def test_a_closed_pull_request_is_not_proposed_again(chain: Chain) -> None:
    before = chain.tracks("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    number = chain.close_pull_request("dev")
    for _ in range(2):
        chain.start("schedule", environment="dev")
        chain.run_everything()
        assert chain.pull_requests("dev") == []
        assert warnings(chain) == [
            f"nothing is proposed: #{number} with the same content was closed without merging"
        ]
    assert (chain.tracks("dev"), chain.status(commit, "dev")) == (before, "Promoted")
    newer = chain.merge_to_main({"docs/operations.md": "We want it.\n"})
    assert chain.run_everything() == TO_DEV
    chain.settle()
    chain.expect_everywhere(newer, RELEASE="one")
    assert chain.status(commit, "dev") == f"Superseded by {newer[:7]}"


def test_a_reverted_merge_is_not_proposed_again(chain: Chain) -> None:
    before = chain.tracks("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything(but={"cd stage"})
    chain.run_everything()
    chain.revert("dev")
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant",
    ]
    chain.start("schedule", environment="dev")
    chain.run_everything()
    assert "undone after its merge" in warnings(chain)[0]
    assert chain.pull_requests("dev") == []
    assert (chain.has("dev"), chain.tracks("dev")) == (commit, before)
    assert chain.config("dev")["large/shop-web"]["RELEASE"] == "zero"
    newer = chain.merge_to_main(RELEASE="two")
    chain.settle()
    chain.expect_everywhere(newer, RELEASE="two")


def test_a_revert_while_the_clusters_sync_stops_the_promotion(chain: Chain) -> None:
    before = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.slow_cluster("dev", "large", 300)
    chain.merge_pull_request("dev")
    chain.meanwhile(60, lambda: chain.revert("dev"))
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: superseded",
        "notify: tells of dev",
        "check-promote dev: compliant",
    ]
    assert chain.status(commit, "dev") == f"Rolled back to {before[:7]}"
    chain.start("schedule", environment="dev")
    chain.run_everything()
    assert chain.waiting == []
    assert (chain.has("stage"), chain.tracks("dev")) == (before, before)
    assert chain.pull_requests("dev") == chain.pull_requests("stage") == []
    assert chain.status(commit, "stage") == ""


def test_a_rollback_stays_where_it_is(chain: Chain) -> None:
    """Later environments keep their newer commit."""
    older = chain.has("dev")
    newer = chain.merge_to_main(RELEASE="one")
    chain.settle()
    chain.start("cd", environment="dev", promoted_commit_id=older)
    assert chain.run_everything() == ["cd dev: refused"]
    chain.start("cd", environment="dev", promoted_commit_id=older, allow_rollback="true")
    assert chain.run_everything() == ["cd dev: written", "schedule dev: created, promoted"]
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant, starts stage",
        "cd stage: superseded",
    ]
    chain.expect("dev", older, RELEASE="zero")
    chain.expect("stage", newer, RELEASE="one")
    assert chain.status(newer, "dev") == "Deployed"
    assert chain.status(older, "stage") == "Deployed"


def test_a_rollback_of_what_has_failed(chain: Chain) -> None:
    chain.break_cluster("dev", "large", "RELEASE: one")
    older = chain.has("dev")
    newer = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything()
    chain.start("cd", environment="dev", promoted_commit_id=older, allow_rollback="true")
    chain.run_everything()
    assert chain.status(newer, "dev") == f"Rolled back to {older[:7]}"
    chain.merge_pull_request("dev")
    assert chain.run_everything() == [
        "notify: tells of dev",
        "check-promote dev: compliant, starts stage",
        "cd stage: unchanged",
        "schedule stage: unchanged",
    ]
    chain.expect_everywhere(older, RELEASE="zero")
    assert newer not in chain.statuses("stage")
    mended = chain.merge_to_main(RELEASE="two")
    assert chain.run_everything() == TO_DEV
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect_everywhere(mended, RELEASE="two")
