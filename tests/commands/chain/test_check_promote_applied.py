"""`kalypso check-promote` and clusters that have synced a commit but not applied it yet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, sign_in, verdict

BROKEN = {"path": "*platform-config.yaml", "text": "broken"}


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)


def test_a_synced_commit_is_not_applied_yet(acme: Organisation) -> None:
    """The cluster is compliant with the previous commit while its source has the new one."""
    acme.cluster("dev", "drone", reconcile_delay=300, nested=True, releases=True)
    old = main_commit(acme)
    merge(acme, old)
    acme.clock.sleep(400)
    commit = main_commit(acme, "another")
    merged = merge(acme, commit)
    began = acme.clock()
    assert verdict(check(acme, merged, commit)) == "compliant"
    assert 300 <= (acme.clock() - began).total_seconds() < 315
    assert acme.logged[1] == "compliant 1/2, progressing 1"


@pytest.mark.parametrize("fields", [{}, {"kustomization": "drone-app"}], ids=["own", "nested"])
def test_a_failure_of_the_commit_before_is_no_verdict(
    acme: Organisation, fields: dict[str, str]
) -> None:
    failure = BROKEN | fields
    acme.cluster(
        "dev", "drone", reconcile_delay=300, nested=True, behaviour="fail", failure=failure
    )
    commit = main_commit(acme)
    merge(acme, commit, config="broken")
    acme.clock.sleep(400)
    corrected = merge(acme, commit, config="corrected")
    assert verdict(check(acme, corrected, commit)) == "compliant"


def test_a_nested_kustomization_follows_a_correction_later(acme: Organisation) -> None:
    """The Kustomization that applies the correction does not wait for it."""
    failure = BROKEN | {"kustomization": "drone-app"}
    times = {"reconcile_delay": 300, "nested_delay": 40}
    acme.cluster("dev", "drone", nested=True, behaviour="fail", failure=failure, **times)
    commit = main_commit(acme)
    merge(acme, commit, config="broken")
    acme.clock.sleep(400)
    began, corrected = acme.clock(), merge(acme, commit, config="corrected")
    assert verdict(check(acme, corrected, commit, poll_interval="15s")) == "compliant"
    assert 340 <= (acme.clock() - began).total_seconds() < 355


def test_a_failure_of_a_nested_kustomization_is_a_verdict(acme: Organisation) -> None:
    failure = {"kustomization": "drone-app", "message": "no such image"}
    acme.cluster("dev", "drone", nested=True, behaviour="fail", failure=failure)
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit)
    assert (verdict(outcome), document(outcome).reason) == (
        "failed",
        "dev-drone: HealthCheckFailed: no such image",
    )


@pytest.mark.parametrize(("inputs", "seconds"), [({}, 60), ({"settle": "0s"}, 0)])
def test_a_cluster_without_statuses_must_comply_for_a_while(
    acme: Organisation, inputs: dict[str, Any], seconds: float
) -> None:
    acme.cluster("dev", "drone", tells_statuses=False)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    began = acme.clock()
    assert verdict(check(acme, merged, commit, **inputs)) == "compliant"
    assert seconds <= (acme.clock() - began).total_seconds() < seconds + 15
