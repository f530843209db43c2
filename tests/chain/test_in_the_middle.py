"""Events while a run writes."""

from __future__ import annotations

import pytest

from tests.chain.driver import Chain
from tests.commands.chain.organisation import GITOPS

PUSH = f"/{GITOPS}*/git-receive-pack"


@pytest.mark.slow
def test_a_pull_request_is_merged_while_schedule_pushes_the_next_commit(chain: Chain) -> None:
    first = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    second = chain.merge_to_main(RELEASE="two")
    chain.run_everything(but={"schedule"})
    merged = chain.at_write(lambda: chain.merge_pull_request("dev"), path=PUSH)
    chain.run_everything(but={"notify", "check-promote"})
    assert merged.result(timeout=0)
    assert chain.tracks("dev") == first
    number = chain.open_pull_request("dev")["number"]
    assert chain.acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"] is True
    chain.settle()
    chain.expect_everywhere(second, RELEASE="two")
