"""`kalypso check-promote`: verdicts, what they do to the status, and what they start."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.inputs.chain import NotifyInputs
from tests.commands.chain.promotions import (
    check,
    document,
    main_commit,
    merge,
    sign_in,
    verdict,
)
from tests.commands.chain.world import Dispatch, Organisation

DEV = "dev environment"


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)


def test_compliant_clusters_carry_the_commit_on(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    outcome = check(acme, merged, commit)
    assert not outcome.failed
    found = document(outcome)
    assert (found.verdict, found.reason) == ("compliant", "2 clusters comply")
    assert found.outputs() == {
        "verdict": "compliant",
        "clusters": '{"compliant":2}',
        "promoted-to": '["stage"]',
    }
    assert [(row.id.rpartition("/")[2], row.cluster_type) for row in found.rows] == [
        ("dev-drone", "drone"),
        ("dev-large", "large"),
    ]
    assert acme.status_history(commit) == [(DEV, "Deploying"), (DEV, "Deployed")]
    assert acme.statuses(commit) == {DEV: ("pending", "Deployed")}
    given = {"promoted_commit_id": commit, "environment": "stage", "promoted_from": "dev"}
    assert acme.dispatches() == [Dispatch("cd.yaml", given)]
    assert outcome.summary.startswith("## kalypso check-promote: deployed to `dev`\n")
    assert "It goes on: [stage](" in outcome.summary
    assert acme.said[0] == "compliant 2/2"
