"""`kalypso check-promote`: verdicts, the statuses that they post, and the workflows they start."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.commands.chain import documents
from tests.commands.chain.fake_cluster_reports import FakeClusterReports
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import Dispatch, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, verdict

pytestmark = pytest.mark.usefixtures("azure")

DEV = "dev environment"
GOES_ON = {DEV: ("success", "Deployed"), "stage environment": ("pending", "Waiting: cd")}


def queries(acme: Organisation) -> int:
    """Return the number of queries to Resource Graph."""
    return len([exchange for exchange in acme.sandbox.traffic if "ResourceGraph" in exchange.path])


def cd_of(commit: str, environment: str = "stage") -> Dispatch:
    given = {"promoted_commit_id": commit, "environment": environment, "promoted_from": "dev"}
    return Dispatch("cd.yaml", given)


def test_with_compliant_clusters_the_commit_goes_on(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    outcome = check(acme, merged, commit)
    assert not outcome.failed
    result = document(outcome)
    assert (result.verdict, result.reason) == ("compliant", "2 clusters comply")
    assert result.outputs() == {
        "verdict": "compliant",
        "clusters": '{"compliant":2}',
        "promoted-to": '["stage"]',
        "events": "[]",
        "more-events": "{}",
    }
    assert [(row.id.rpartition("/")[2], row.cluster_type, row.revision) for row in result.rows] == [
        ("dev-drone", "drone", merged),
        ("dev-large", "large", merged),
    ]
    assert acme.status_history(commit) == [
        (DEV, "Deploying"),
        ("stage environment", "Waiting: cd"),
        (DEV, "Deployed"),
    ]
    assert acme.statuses(commit) == GOES_ON
    assert acme.status_links(commit) == {acme.run_url}
    assert acme.dispatches() == [cd_of(commit)]
    assert outcome.summary.startswith("## kalypso check-promote: deployed to `dev`\n")
    assert "Started: [stage](" in outcome.summary
    assert acme.logged[1] == "compliant 2/2"


def test_a_configuration_change_is_only_checked(acme: Organisation) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    merged = merge(acme, commit, config="2")
    acme.status(commit, DEV, "Deployed")
    acme.forget()
    outcome = check(acme, merged)
    assert verdict(outcome) == "compliant"
    assert acme.writes() == []
    assert "a configuration change, which is not promoted" in outcome.summary
    acme.cluster("dev", "drone", behaviour="fail")
    outcome = check(acme, merge(acme, commit, config="3"))
    assert (outcome.failed, verdict(outcome)) == (True, "failed")
    assert acme.statuses(commit) == {DEV: ("pending", "Deployed")}


def test_a_deployed_commit_does_not_fail_later(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    check(acme, merged, commit)
    acme.cluster("dev", "drone", behaviour="fail")
    assert verdict(check(acme, merged, commit)) == "failed"
    assert acme.statuses(commit) == GOES_ON
    assert len(acme.dispatches()) == 1


@pytest.mark.parametrize("further", [True, False])
def test_what_an_earlier_version_posted_becomes_green(acme: Organisation, further: bool) -> None:
    """It posted `Deployed` as pending, and nothing for the next environment."""
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.status(commit, DEV, "Deployed", "pending" if further else "success")
    if further:
        acme.status(commit, "stage environment", "Deploying")
    check(acme, merged, commit)
    waiting = ("pending", "Deploying" if further else "Waiting: cd")
    assert acme.statuses(commit) == {DEV: ("success", "Deployed"), "stage environment": waiting}


def test_clusters_are_waited_for(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=40, settle=30)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    began = acme.clock()
    assert verdict(check(acme, merged, commit, poll_interval="15s")) == "compliant"
    # The health check of the previous commit ends first, after 70 seconds.
    assert 105 <= (acme.clock() - began).total_seconds() < 120
    progress = [line for line in acme.logged if line.startswith("compliant")]
    assert progress == ["compliant 1/2, progressing 1", "compliant 2/2"]
    changes = [line for line in acme.logged if "→" in line]
    assert len(changes) == 1
    assert changes[0].startswith("  ")
    assert changes[0].endswith(": progressing → compliant")


def test_a_failing_cluster_stops_the_commit(acme: Organisation) -> None:
    message = "pod `web-1` | crashes\n@somebody"
    acme.cluster("dev", "drone", behaviour="fail", failure={"message": message})
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit)
    assert (outcome.failed, verdict(outcome)) == (True, "failed")
    state, description = acme.statuses(commit)[DEV]
    assert (state, description) == (
        "failure",
        "Failed to deploy: dev-drone: HealthCheckFailed: pod `web-1` | crashes @somebody",
    )
    assert acme.dispatches() == []
    (problem,) = document(outcome).problems
    assert problem.message.startswith("dev-drone: HealthCheckFailed")
    assert "the merge of the correction continues the promotion" in problem.advice
    assert "| `dev-drone` | `drone` | failed |" in outcome.summary
    assert "@somebody" not in outcome.summary
    assert "dev-large` |" not in outcome.summary


def test_the_source_of_reports_advises_what_to_do_without_reports(acme: Organisation) -> None:
    commit = main_commit(acme)
    reports = FakeClusterReports(lambda _url, _branch: [])
    outcome = check(acme, merge(acme, commit), commit, reports=reports)
    advice = (
        "Make some reports up. If no cluster should follow this branch, set require-targets to "
        "false. Then run this job again."
    )
    assert [problem.advice for problem in document(outcome).problems] == [advice]
    assert advice in outcome.summary


NOT_REPORTING = "metadata:\n  annotations: {kalypso.io/compliance: none}\n  name"


def does_not_report(acme: Organisation, cluster_type: str) -> None:
    text = documents.cluster_type(cluster_type).replace("metadata:\n  name", NOT_REPORTING)
    acme.commit({f"cluster-types/{cluster_type}.yaml": text}, "dev")


def test_cluster_types_that_do_not_report_are_left_out(acme: Organisation) -> None:
    does_not_report(acme, "drone")
    acme.cluster("dev", "drone", behaviour="fail")
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit), commit)
    assert verdict(outcome) == "compliant"
    assert [row.cluster_type for row in document(outcome).rows] == ["large"]
    (warning,) = document(outcome).warnings
    assert warning.message.startswith("the state of the clusters of drone is not known")


def test_a_share_of_the_clusters_is_enough(acme: Organisation) -> None:
    for number in range(3):
        cluster = acme.cluster("dev", "large")
        acme.sandbox.azure.put(cluster.model_copy(update={"name": f"dev-large-{number}"}))
    acme.sandbox.azure.change("dev-large-2", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    outcome = check(acme, merged, commit, min_compliant="75%")
    assert (verdict(outcome), acme.logged[1]) == ("compliant", "compliant 4/5, progressing 1")
    outcome = check(acme, merged, commit, ignore_clusters="*/dev-large-2")
    assert document(outcome).clusters == {"compliant": 4}


def test_a_tree_in_a_folder(acme: Organisation) -> None:
    for name in ("drone", "large"):
        acme.cluster("dev", name, paths=[f"./fleet/{name}"])
    repo = documents.gitops_repo(acme.url("acme/gitops"), "dev", path="fleet")
    acme.commit({"gitops-repo.yaml": repo}, "dev")
    commit = main_commit(acme)
    outcome = check(acme, merge(acme, commit, folder="fleet"), commit)
    assert verdict(outcome) == "compliant"
    assert [row.cluster_type for row in document(outcome).rows] == ["drone", "large"]


def test_the_post_deployment_command_decides(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    command = 'echo "<b>$KALYPSO_ENVIRONMENT $KALYPSO_COMMIT $KALYPSO_GITOPS_COMMIT"; exit 3'
    outcome = check(acme, merged, commit, post_deployment=command)
    assert (outcome.failed, verdict(outcome)) == (True, "failed")
    reason = "the post-deployment command ended with exit code 3"
    assert acme.statuses(commit)[DEV] == ("failure", f"Failed to deploy: {reason}")
    assert acme.dispatches() == []
    assert f"<b>dev {commit} {merged}" in outcome.summary
    outcome = check(acme, merged, commit, post_deployment="true")
    assert acme.statuses(commit) == GOES_ON
    assert acme.dispatches() == [cd_of(commit)]


def test_a_command_may_stop_a_configuration_change_too(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.status(commit, DEV, "Deployed")
    acme.forget()
    assert check(acme, merged, post_deployment="exit 1").failed
    assert acme.writes() == []


@pytest.mark.parametrize("writes", range(3))
def test_a_killed_failing_run_is_repeated(acme: Organisation, writes: int) -> None:
    acme.cluster("dev", "drone", behaviour="fail")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    assert is_killed(writes, lambda: check(acme, merged, commit))
    assert verdict(check(acme, merged, commit)) == "failed"
    assert acme.statuses(commit)[DEV][0] == "failure"
    assert acme.dispatches() == []


def test_several_runs_at_once(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=60)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(check, acme, merged, commit) for _ in range(4)]
        assert {verdict(run.result()) for run in runs} == {"compliant"}
    assert acme.statuses(commit) == GOES_ON
    assert len(set(map(str, acme.dispatches()))) == 1


def test_an_old_run_and_a_new_one_at_once(acme: Organisation) -> None:
    """Both runs end as if one had run after the other."""
    old = main_commit(acme)
    first = merge(acme, old)
    new = main_commit(acme, "another")
    last = merge(acme, new)
    with ThreadPoolExecutor(2) as pool:
        stale = pool.submit(check, acme, first, old)
        fresh = pool.submit(check, acme, last, new)
        assert (verdict(stale.result()), verdict(fresh.result())) == ("superseded", "compliant")
    assert acme.statuses(old) == {DEV: ("pending", f"Superseded by {new[:7]}")}
    assert acme.statuses(new) == GOES_ON
    assert [dispatch.inputs["promoted_commit_id"] for dispatch in acme.dispatches()] == [new]
