"""Later runs repair lost runs and refused starts."""

from __future__ import annotations

from collections.abc import Callable

from kalypso_sandbox import Fault
from kalypso_sandbox.azure import QueryFault
from tests.chain.driver import Chain
from tests.chain.run_lines import IN_STAGE
from tests.commands.chain.organisation import CLUSTER_TYPES

DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"


def test_each_run_is_lost_once(chain: Chain) -> None:
    """After each loss, somebody repeats the run before the lost one."""
    commit = ""

    def push() -> None:
        nonlocal commit
        commit = chain.merge_to_main(RELEASE="one")

    def cd() -> None:
        chain.start("cd", environment="dev", promoted_commit_id=commit, promoted_from="ci")

    def schedule(environment: str) -> None:
        chain.start("schedule", environment=environment)

    def merge(environment: str) -> None:
        chain.merge_pull_request(environment)

    story: list[tuple[Callable[[], None], str]] = [
        (push, "ci main"),
        (cd, "cd dev"),
        (cd, "schedule dev"),
        (lambda: chain.run_again("cd dev"), ""),
        (lambda: merge("dev"), "notify dev"),
        (lambda: schedule("dev"), "check-promote dev"),
        (lambda: schedule("dev"), "cd stage"),
        (lambda: chain.run_again("check-promote dev"), "schedule stage"),
        (lambda: chain.run_again("cd stage"), ""),
        (lambda: merge("stage"), "notify stage"),
        (lambda: schedule("stage"), "check-promote stage"),
        (lambda: schedule("stage"), ""),
    ]
    for act, lost in story:
        if lost:
            chain.drop_next_run(lost)
        act()
        chain.run_everything()
        assert chain.to_be_lost == set()
    for name in ("dev", "stage"):
        chain.expect(name, commit, RELEASE="one")
        assert len(chain.pull_requests(name, state="all")) == 2  # including the one of the opening


def test_a_later_commit_repairs_every_loss(chain: Chain) -> None:
    """Each commit is lost at another step; the last one reaches all environments."""
    places = ("cd dev", "schedule dev", "notify dev", "check-promote dev", "cd stage")
    lost = []
    for number, place in enumerate(places):
        chain.drop_next_run(place)
        lost.append(chain.merge_to_main(RELEASE=f"lost-{number}"))
        chain.run_everything()
        if place != "schedule dev":
            chain.settle()
    last = chain.merge_to_main(RELEASE="last")
    chain.settle()
    chain.expect_everywhere(last, RELEASE="last")
    told = chain.statuses("stage")
    assert {commit: told[commit] for commit in lost if commit in told} == {
        lost[-1]: f"Superseded by {last[:7]}"  # check-promote started the cd that was lost
    }


def test_a_refused_start_is_reported_and_repeated(chain: Chain) -> None:
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    chain.run_everything(but={"check-promote"})
    with chain.acme.sandbox.faults.on(Fault("POST", DISPATCH, "status", count=0)):
        assert chain.run_everything() == ["check-promote dev: error"]
    assert chain.status(commit, "dev").startswith("Failed to deploy: ")
    chain.run_again("check-promote dev")
    assert chain.run_everything()[0] == "check-promote dev: compliant, starts stage"
    chain.merge_pull_request("stage")
    assert chain.run_everything() == IN_STAGE
    chain.expect_everywhere(commit, RELEASE="one")


def test_clusters_that_nobody_sees_are_no_success(chain: Chain) -> None:
    """Azure returns no rows without the role Reader, as for a branch that nobody follows."""
    azure = chain.acme.sandbox.azure
    before = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    azure.settings.faults = [QueryFault(kind="unseen", count=0)]
    assert chain.run_everything() == ["notify: tells of dev", "check-promote dev: error"]
    azure.settings.faults = []
    for name in CLUSTER_TYPES:
        azure.change(f"dev-{name}", branch="devel")
    chain.run_again("check-promote dev")
    assert chain.run_everything() == ["check-promote dev: none-targeted"]
    assert chain.status(commit, "dev").startswith("Failed to deploy: no cluster follows")
    assert chain.has("stage") == before
    for name in CLUSTER_TYPES:
        azure.change(f"dev-{name}", branch="dev")
    chain.run_again("check-promote dev")
    chain.settle()
    chain.expect_everywhere(commit, RELEASE="one")
