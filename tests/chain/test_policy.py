"""Stories of an environment's PromotionPolicy, by the workflow templates."""

from __future__ import annotations

from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV, TO_DEV

FILE = ".github/kalypso/promotion.yaml"
HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: any}\n"
HELD = "holds: [{reason: incident 42, by: alice}]"
OPEN = "holds: []"


def text(spec: str) -> str:
    return f"{HEAD}spec: {{{spec}}}\n"


def test_nobody_is_asked_to_approve_what_a_hold_keeps_out(chain: Chain) -> None:
    before = chain.has("stage")
    chain.requires_approval("stage")
    chain.acme.commit({FILE: text(HELD)}, "stage")
    chain.run_everything()
    commit = chain.merge_to_main(RELEASE="one")
    assert chain.run_everything() == TO_DEV
    chain.merge_pull_request("dev")
    assert chain.run_everything() == FROM_DEV[:2]
    assert chain.waiting_for_approval == []
    assert chain.status(commit, "stage") == "Waiting: hold by alice: incident 42"
    assert chain.has("stage") == before
    chain.start("poll")
    chain.run_everything()
    assert chain.waiting_for_approval == []
    chain.acme.commit({FILE: text(OPEN)}, "stage")
    chain.start("poll")
    chain.run_everything()
    assert chain.waiting_for_approval == ["cd stage"]
    chain.approve("cd stage")
    chain.run_everything()
    assert chain.has("stage") == commit
