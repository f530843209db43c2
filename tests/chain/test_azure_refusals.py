"""Access tokens that Azure refuses before they expire."""

from __future__ import annotations

import pytest

from kalypso_sandbox.azure import QueryFault
from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV, IN_STAGE


def merge_to_dev(chain: Chain) -> str:
    """Promote a commit of main to dev and merge it; return the commit."""
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    return commit


@pytest.mark.parametrize("kind", ["revoked", "challenged"])
@pytest.mark.parametrize("skip", [0, 1, 5])
def test_a_token_is_refused_once(chain: Chain, kind: str, skip: int) -> None:
    commit = merge_to_dev(chain)
    chain.slow_cluster("dev", "drone", 120)
    fault = QueryFault.model_validate({"kind": kind, "skip": skip})
    chain.acme.sandbox.azure.settings.faults.append(fault)
    assert chain.run_everything() == FROM_DEV
    assert chain.acme.sandbox.azure.settings.faults == []
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect_everywhere(commit, RELEASE="one")


def test_the_new_token_is_refused_too(chain: Chain) -> None:
    commit = merge_to_dev(chain)
    chain.acme.sandbox.azure.settings.faults.append(QueryFault(kind="revoked", count=2))
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: error"]
    assert chain.status(commit, "dev").startswith("Failed to deploy")
    chain.run_again("check-promote dev")
    assert chain.run_everything() == FROM_DEV[1:]
