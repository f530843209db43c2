"""Tokens without the permission `workflows` push branches that have workflow files."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chain.conftest import OpenChain
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import CONTROL_PLANE


@pytest.mark.parametrize("known_from", ["any branch", "default branch"])
def test_the_workflow_files_are_known_from_the_default_branch(
    open_chain: OpenChain, known_from: Any
) -> None:
    """cd and schedule push new branches: all their workflow files may be compared."""
    chain = open_chain(Layout(inputs={"cd": {"mode": "pull-request"}}))
    chain.acme.sandbox.store.workflows_known_from = known_from
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev", CONTROL_PLANE)
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything()
    assert chain.acme.statuses(commit)["dev environment"] == ("success", "Deployed")
