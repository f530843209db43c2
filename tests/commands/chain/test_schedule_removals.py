"""A mass removal needs permission before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.proposals import actions, configure, messages, run, run_schedule, settle
from tests.commands.chain.shop_targets import TARGETS, fill


@pytest.fixture
def full(acme: Organisation) -> Organisation:
    """Acme with sixteen assignments in the GitOps branch."""
    fill(acme, TARGETS)
    settle(acme)
    return acme


def refused(acme: Organisation, **given: Any) -> str:
    """Return the page of a run that the mass removal stops before it writes."""
    acme.forget()
    done = run_schedule(acme, **given)
    assert done.failed
    assert acme.writes() == []
    return done.summary


def test_it_is_refused_and_listed(full: Organisation) -> None:
    fill(full, TARGETS[:4])
    summary = refused(full)
    assert "8 of 16 assignments would be removed" in summary.replace("\\", "")
    for number in range(4, 8):
        assert f"- `large/shop-web-{number}`\n" in summary
    assert "run schedule with `allow_removals` set" in summary
    document = run_schedule(full).document
    assert [problem.advice for problem in document.problems] == [
        "if that is wanted, run schedule with allow-removals"
    ]
    assert not any("would be removed" in warning.message for warning in document.warnings)


def test_a_placement_that_drops_most_of_the_fleet_is_refused(full: Organisation) -> None:
    placement = (
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
        "metadata: {name: few}\nspec: {numberOfClusters: 1}\n"
    )
    named = "{name: everywhere, annotations: {kalypso.io/placement: few}}"
    policy = documents.policy().replace("{name: everywhere}", named)
    full.commit({"policy.yaml": policy, ".github/kalypso/few.yaml": placement}, "dev")
    summary = refused(full, scheduler="placement")
    assert "8 of 16 assignments would be removed" in summary.replace("\\", "")
    assert actions(run(full, scheduler="placement", allow_removals="true")) == [(2, "created")]


def test_the_person_who_allows_it_is_named(full: Organisation) -> None:
    fill(full, TARGETS[:4])
    document = run(full, allow_removals="true")
    assert actions(document) == [(2, "created")]
    assert "8 of 16 assignments would be removed" in messages(document)[0]
    (pull,) = full.pulls()
    assert "**8 of 16 assignments are removed.** somebody allows it." in pull["body"]
    # The next run, without permission, leaves the proposal as it is.
    full.forget()
    assert actions(run(full)) == [(2, "unchanged")]
    assert full.writes() == []
    # Further changes need permission again.
    configure(full, REGION="north")
    refused(full)
    full.merge(2)
    assert actions(run(full)) == [(3, "created")]


@pytest.mark.parametrize(
    ("left", "percent", "goes"),
    [(6, "30", True), (5, "30", False), (5, "40", True), (0, "99", False), (0, "100", True)],
)
def test_how_much_is_too_much(full: Organisation, left: int, percent: str, goes: bool) -> None:
    fill(full, TARGETS[:left])
    assert run_schedule(full, max_removal_percent=percent).failed != goes


def test_five_are_never_too_many(acme: Organisation) -> None:
    acme.commit({"cluster-types/drone.yaml": None}, "dev")
    fill(acme, TARGETS[:5])
    settle(acme)
    fill(acme, [])
    assert actions(run(acme, max_removal_percent="0")) == [(2, "created")]


def test_an_issue_is_not_closed_by_what_takes_everything_away(full: Organisation) -> None:
    broken = documents.cluster_type("large", reconciler="nowhere")
    full.commit({"cluster-types/large.yaml": broken}, "dev")
    assert run_schedule(full).failed
    before = full.issues()
    assert len(before) == 8
    fill(full, TARGETS[:1])
    refused(full)
    assert full.issues() == before
    assert full.pulls(GITOPS) == []
