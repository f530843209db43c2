"""`kalypso check-promote` while it waits: merges, reverts, faults and corrections."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import requests

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import ClusterReport, ReportedPath
from kalypso_sandbox import Fault
from kalypso_sandbox.azure import QueryFault
from tests.commands.chain.fake_cluster_reports import FakeClusterReports
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    Dispatch,
    Job,
    Organisation,
)
from tests.commands.chain.promotions import (
    check,
    document,
    main_commit,
    merge,
    name_in_base,
    verdict,
)

pytestmark = pytest.mark.usefixtures("azure")

DEV = "dev environment"
GOES_ON = {DEV: ("success", "Deployed"), "stage environment": ("pending", "Waiting: cd")}
OTHER_SUBSCRIPTION = "33333333-3333-4333-8333-333333333333"
SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"


def meanwhile(acme: Organisation, after: float, happens: Callable[[], object]) -> None:
    """Call `happens` as soon as a run has slept for so many seconds."""
    sleep = acme.clock.sleep
    due = acme.clock() + timedelta(seconds=after)
    pending = [happens]

    def sleeping(seconds: float) -> None:
        sleep(seconds)
        if pending and acme.clock() >= due:
            pending.pop()()

    acme.clock.sleep = sleeping  # type: ignore[method-assign]  # of this clock only


def test_a_configuration_change_before_the_clusters_have_synced_still_promotes(
    acme: Organisation,
) -> None:
    """Each cluster runs another commit of the same promotion."""
    acme.cluster("dev", "drone", delay=100)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    meanwhile(acme, 30, lambda: merge(acme, commit, config="2"))
    outcome = check(acme, merged, commit)
    assert verdict(outcome) == "compliant"
    revisions = {row.cluster_type: row.revision for row in document(outcome).rows}
    assert revisions == {"drone": merged, "large": acme.head("dev", GITOPS)}
    assert acme.statuses(commit) == GOES_ON


def test_branches_are_read_after_the_reports(
    acme: Organisation,
) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)

    def merge_and_report(_url: str, _branch: str) -> list[ClusterReport]:
        head = merge(acme, commit, config="2")
        return [
            ClusterReport(f"clusters/{name}", "fleet", (ReportedPath(name),), head, "Compliant")
            for name in ("drone", "large")
        ]

    reports = FakeClusterReports(merge_and_report)
    outcome = check(acme, merged, commit, reports=reports)
    assert reports.is_closed
    assert document(outcome).clusters == {"compliant": 2}
    assert {row.revision for row in document(outcome).rows} == {acme.head("dev", GITOPS)}


def test_a_newer_commit_supersedes(acme: Organisation) -> None:
    acme.cluster("dev", "drone", behaviour="stall")
    old = main_commit(acme)
    merged = merge(acme, old)
    new = main_commit(acme, "another")
    meanwhile(acme, 60, lambda: merge(acme, new))
    outcome = check(acme, merged, old)
    assert (outcome.failed, verdict(outcome)) == (False, "superseded")
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.statuses(new) == {}
    assert acme.dispatches() == []
    assert document(outcome).reason == f"the branch names {new[:7]} by now"
    assert "There is nothing to do" in outcome.summary
    assert document(outcome).clusters == {"ahead": 1, "progressing": 1}


def test_a_late_run_does_not_post_deploying(acme: Organisation) -> None:
    old = main_commit(acme)
    merged = merge(acme, old)
    new = main_commit(acme, "another")
    merge(acme, new)
    assert verdict(check(acme, merged, old)) == "superseded"
    assert acme.status_history(old) == [(DEV, f"Superseded by {new[:7]}")]


def test_a_revert_during_the_command_stops_the_commit(acme: Organisation) -> None:
    old = acme.head("main") or ""
    merge(acme, old)
    new = main_commit(acme)
    merged = merge(acme, new)
    flag = acme.folder / "running"
    wait = f"touch {flag}; while [ -e {flag} ]; do sleep 0.05; done; echo done"
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(check, acme, merged, new, post_deployment=wait)
        while not flag.exists():
            assert not run.done()
        merge(acme, old)
        flag.unlink()
        outcome = run.result()
    assert verdict(outcome) == "superseded"
    assert acme.statuses(new) == {DEV: ("pending", f"Rolled back to {old[:7]}")}
    assert acme.dispatches() == []
    assert "done" in outcome.summary


@pytest.mark.parametrize("place", ["the GitOps branch", "base-repo.yaml"])
def test_a_revert_just_before_the_clusters_comply_stops_the_commit(
    acme: Organisation, place: str
) -> None:
    old = acme.head("main") or ""
    merge(acme, old)
    new = main_commit(acme)
    merged = merge(acme, new)
    began = acme.clock()

    def reports(_url: str, _branch: str) -> list[ClusterReport]:
        state = "Compliant" if acme.clock() - began >= timedelta(seconds=45) else "Pending"
        return [
            ClusterReport(f"clusters/{name}", "fleet", (ReportedPath(name),), merged, state)
            for name in ("drone", "large")
        ]

    def revert() -> None:
        if place == "base-repo.yaml":
            name_in_base(acme, old)
        else:
            acme.commit({".github/tracking/Promoted_Commit_Id": old}, "dev", GITOPS)

    meanwhile(acme, 20, revert)
    fake = FakeClusterReports(reports)
    outcome = check(acme, merged, new, reports=fake, settle="10s", poll_interval="15s")
    assert (verdict(outcome), acme.dispatches()) == ("superseded", [])
    assert acme.clock() - began < timedelta(minutes=1)


def test_a_forced_push(acme: Organisation) -> None:
    """The run's GitOps commit is gone, but the promotion goes on."""
    acme.cluster("dev", "drone", delay=100)
    base = acme.head("dev", GITOPS)
    commit = main_commit(acme)
    merged = merge(acme, commit)

    def force() -> None:
        acme.reset("dev", base, GITOPS)
        merge(acme, commit, config="2")

    meanwhile(acme, 30, force)
    outcome = check(acme, merged, commit)
    assert verdict(outcome) == "compliant"
    assert {row.revision for row in document(outcome).rows} == {acme.head("dev", GITOPS)}


def test_a_deleted_branch(acme: Organisation) -> None:
    acme.cluster("dev", "drone", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    meanwhile(acme, 30, lambda: acme.reset("dev", None, GITOPS))
    with pytest.raises(KalypsoError, match="the branch 'dev' of acme/gitops is gone"):
        check(acme, merged, commit)
    assert acme.statuses(commit)[DEV] == (
        "failure",
        "Failed to deploy: the branch 'dev' of acme/gitops is gone",
    )


def test_a_fix_goes_on_by_itself(acme: Organisation) -> None:
    broken = {"path": "*platform-config.yaml", "text": "broken"}
    acme.cluster("dev", "drone", behaviour="fail", failure=broken)
    commit = main_commit(acme)
    assert verdict(check(acme, merge(acme, commit, config="broken"), commit)) == "failed"
    assert verdict(check(acme, merge(acme, commit, config="fixed"), commit)) == "compliant"
    assert acme.statuses(commit) == GOES_ON
    assert [description for _, description in acme.status_history(commit)] == [
        "Deploying",
        "Failed to deploy: dev-drone: HealthCheckFailed: timeout waiting for: [Deployment/app/web"
        " status: 'InProgress']",
        "Deploying",
        "Waiting: cd",
        "Deployed",
    ]


def test_a_refusal_of_azure_is_posted_as_a_failure(acme: Organisation) -> None:
    acme.sandbox.azure.settings.faults.append(QueryFault(kind="denied", count=0))
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError, match="the identity may not read the scope"):
        check(acme, merged, commit)
    state, description = acme.statuses(commit)[DEV]
    assert state == "failure"
    assert description.startswith("Failed to deploy: Azure Resource Graph refused the query")
    assert acme.dispatches() == []
    with pytest.raises(KalypsoError, match="may not read"):
        check(acme, merged)


DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"


def test_a_next_environment_that_cannot_be_started(acme: Organisation) -> None:
    acme.commit({".github/workflows/cd.yaml": None})
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError, match=r"the workflow cd\.yaml cannot be started"):
        check(acme, merged, commit)
    assert acme.statuses(commit)[DEV][0] == "failure"


def test_a_cancelled_run_posts_a_failure(acme: Organisation) -> None:
    def cancel() -> None:
        raise KeyboardInterrupt

    acme.cluster("dev", "drone", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    meanwhile(acme, 30, cancel)
    with pytest.raises(KeyboardInterrupt):
        check(acme, merged, commit)
    assert acme.statuses(commit)[DEV] == ("failure", "Failed to deploy: the run was cancelled")


def test_a_failure_that_cannot_be_posted_does_not_hide_the_first(acme: Organisation) -> None:
    acme.cluster("dev", "drone", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)

    def end() -> None:
        acme.sandbox.azure.settings.faults.append(QueryFault(kind="denied", count=0))
        acme.sandbox.faults.add(Fault("POST", f"/repos/*/statuses/{commit}", "status", count=0))

    meanwhile(acme, 30, end)
    with pytest.raises(KalypsoError, match="may not read the scope"):
        check(acme, merged, commit)
    assert any(line.startswith("The failure cannot be posted: ") for line in acme.logged)


BROKEN = {"path": "*platform-config.yaml", "text": "broken"}


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


def test_the_timeout_counts_from_the_begin_of_the_waiting(acme: Organisation) -> None:
    acme.cluster("dev", "drone", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    start = acme.clock().isoformat()
    acme.clock.sleep(400)
    began = acme.clock()
    outcome = check(acme, merged, commit, started_at=start)
    assert verdict(outcome) == "timed-out"
    assert (acme.clock() - began).total_seconds() == 201  # with the last record
    # A person who reruns a job wants it to wait again.
    began = acme.clock()
    again = check(acme, merged, commit, started_at=start, job=Job(attempt=2))
    assert verdict(again) == "timed-out"
    assert (acme.clock() - began).total_seconds() == 601


def test_another_run_continues_before_the_limit_of_the_job(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=6 * 3600)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    began = acme.clock()
    inputs: dict[str, Any] = {"timeout": "9h", "poll_interval": "10m"}
    outcome = check(acme, merged, commit, **inputs)
    assert (outcome.failed, verdict(outcome)) == (False, "")
    assert (acme.clock() - began) < timedelta(hours=5, minutes=30)
    assert acme.statuses(commit) == {DEV: ("pending", "Deploying")}
    (successor,) = acme.dispatches()
    assert successor == Dispatch(
        "check-promote.yaml",
        {
            "environment": "dev",
            "promoted_commit_id": commit,
            "commit_id": merged,
            "gitops_repository": GITOPS,
            "started_at": began.isoformat(),
        },
    )
    assert outcome.summary.startswith("## kalypso check-promote: still waiting for `dev`\n")
    outcome = check(acme, merged, commit, started_at=successor.inputs["started_at"], **inputs)
    assert verdict(outcome) == "compliant"


def test_outside_of_a_job_there_is_no_limit(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=6 * 3600)
    commit = main_commit(acme)
    outcome = check(
        acme,
        merge(acme, commit),
        commit,
        timeout="9h",
        poll_interval="30m",
        control_plane=CONTROL_PLANE,
        variables={"GITHUB_ACTIONS": ""},
    )
    assert verdict(outcome) == "compliant"


COMPARE = "/repos/{owner}/{repo}/compare/{basehead}"
NOTHING = FakeClusterReports(lambda _url, _branch: [])


def used(acme: Organisation) -> int:
    """Return the requests of this hour, as GitHub counts them."""
    headers = {"authorization": f"Bearer {acme.token}"}
    answer = requests.get(f"{acme.sandbox.api_url}/rate_limit", headers=headers, timeout=60)
    resources = answer.json()["resources"]
    return int(resources["core"]["used"]) + int(resources["graphql"]["used"])


def wait(acme: Organisation, promoted: str, merged: str, times: str, poll_interval: str) -> None:
    """Wait for clusters that never report."""
    began = acme.clock()
    outcome = check(
        acme,
        merged,
        promoted,
        reports=NOTHING,
        timeout=times,
        grace_period=times,
        poll_interval=poll_interval,
    )
    waited = f"{(acme.clock() - began) // timedelta(minutes=1)}m"
    assert (verdict(outcome), waited) == ("timed-out", times)


def test_waiting_needs_nothing_of_the_rate_limit(acme: Organisation) -> None:
    """Twenty runs share the 5,000 requests an hour of an App's installation."""
    merged = merge(acme, commit := main_commit(acme))
    before = used(acme)
    wait(acme, commit, merged, "59m", "1m")
    assert used(acme) - before <= 20


def test_waiting_reads_the_branches_once_a_minute(acme_with_permissions: Organisation) -> None:
    """git reads the heads of two repositories once a minute, at any interval between looks."""
    acme = acme_with_permissions
    merged = merge(acme, commit := main_commit(acme))
    acme.forget()
    wait(acme, commit, merged, "5m", "15s")
    heads = [
        exchange
        for exchange in acme.sandbox.traffic.of("GET", "git")
        if "info/refs" in exchange.path
    ]
    assert len(heads) <= 2 * 6 + 10


def test_comparisons_leave_out_the_files(acme: Organisation) -> None:
    """GitHub computes them for the first page, and fails for large trees."""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    merge(acme, commit, config="2")
    acme.forget()
    check(acme, merged, commit, reports=NOTHING, timeout="1s")
    comparisons = acme.sandbox.traffic.of("GET", COMPARE)
    assert comparisons
    assert all(exchange.response_body.get("files") == [] for exchange in comparisons)
