"""`kalypso check-promote` with several GitOpsRepos: all of them hold the commit and comply."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kalypso_actions.commands.shared.result import CommandResult
from tests.commands.chain import documents
from tests.commands.chain.organisation import CLUSTER_TYPES, GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, sign_in, verdict

DEV = "dev environment"
GOES_ON = {DEV: ("success", "Deployed"), "stage environment": ("pending", "Waiting: cd")}
SECOND = "acme/second"


@pytest.fixture(autouse=True)
def second(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another GitOps repository of dev, with clusters of its own."""
    sign_in(acme, monkeypatch)
    acme.sandbox.create_repository(SECOND, {"README.md": ""})
    acme.commit({"README.md": "1"}, "dev", SECOND)
    repo = documents.gitops_repo(acme.url(SECOND), "dev", "second")
    acme.commit({"second.yaml": repo}, "dev")
    for name in CLUSTER_TYPES:
        cluster = acme.cluster("dev", name, repository=SECOND)
        acme.sandbox.azure.put(cluster.model_copy(update={"name": f"second-{name}"}))
        acme.cluster("dev", name)


def check_one(acme: Organisation, repository: str, merged: str, commit: str) -> CommandResult:
    return check(acme, merged, commit, gitops_repository=repository)


def test_the_last_run_goes_on(acme: Organisation) -> None:
    commit = main_commit(acme)
    outcome = check_one(acme, GITOPS, merge(acme, commit), commit)
    assert (outcome.failed, verdict(outcome)) == (False, "waiting")
    reason = "acme/second, branch dev does not hold the commit yet"
    assert document(outcome).reason == reason
    assert acme.statuses(commit) == {DEV: ("pending", "Deploying")}
    assert acme.dispatches() == []
    assert "Merge the pull request there" in outcome.summary
    outcome = check_one(acme, SECOND, merge(acme, commit, repository=SECOND), commit)
    assert verdict(outcome) == "compliant"
    assert document(outcome).clusters == {"compliant": 4}
    assert acme.statuses(commit) == GOES_ON
    assert len(acme.dispatches()) == 1


def test_the_other_repository_does_not_comply_in_time(acme: Organisation) -> None:
    acme.sandbox.azure.change("second-drone", behaviour="stall")
    commit = main_commit(acme)
    first, last = merge(acme, commit), merge(acme, commit, repository=SECOND)
    began = acme.clock()
    outcome = check_one(acme, GITOPS, first, commit)
    assert verdict(outcome) == "waiting"
    assert document(outcome).reason == "acme/second, branch dev: progressing: second-drone"
    assert acme.clock() - began == timedelta(minutes=10)
    assert acme.statuses(commit) == {DEV: ("pending", "Deploying")}
    assert verdict(check_one(acme, SECOND, last, commit)) == "timed-out"
    assert acme.statuses(commit)[DEV][0] == "failure"


def test_a_configuration_change_asks_for_its_own_clusters_only(acme: Organisation) -> None:
    acme.sandbox.azure.change("second-drone", behaviour="fail")
    commit = main_commit(acme)
    merge(acme, commit, repository=SECOND)
    merged = merge(acme, commit)
    acme.status(commit, DEV, "Deployed")
    outcome = check(acme, merged, gitops_repository=GITOPS)
    assert (verdict(outcome), document(outcome).clusters) == ("compliant", {"compliant": 2})


def test_two_trees_in_one_branch(acme: Organisation) -> None:
    for name, folder in (("gitops-repo", "east"), ("second", "west")):
        repo = documents.gitops_repo(acme.url(GITOPS), "dev", folder, path=folder)
        acme.commit({f"{name}.yaml": repo}, "dev")
    for number, name in enumerate(CLUSTER_TYPES):
        folder = ("east", "west")[number]
        acme.cluster("dev", name, paths=[f"./{folder}/{name}"])
    commit = main_commit(acme)
    half = merge(acme, commit, folder="east", cluster_types=("drone",))
    assert verdict(check(acme, half, commit)) == "waiting"
    whole = merge(acme, commit, folder="west", cluster_types=("large",))
    assert verdict(check(acme, whole, commit)) == "compliant"
