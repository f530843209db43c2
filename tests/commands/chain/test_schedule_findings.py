"""`kalypso schedule` warns about documents without effect in its environment, but proposes."""

from __future__ import annotations

from tests.commands.chain import documents
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.proposals import run_schedule


def test_a_policy_of_the_environment_without_cluster_types(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")}, "dev")
    result = run_schedule(acme)
    assert [entry.code for entry in result.document.warnings] == ["policy-without-cluster-types"]
    assert not result.failed
    assert len(acme.pulls()) == 1


def test_a_policy_of_main_is_left_to_ci(acme: Organisation) -> None:
    acme.commit({"edge.yaml": documents.policy("edge-only", size="egde")})
    result = run_schedule(acme)
    assert result.document.warnings == ()
