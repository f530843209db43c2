"""check-promote by commit statuses, Argo CD, a program, and several sources together."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.own_account import JOBS
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, tree, verdict
from tests.commands.chain.report_sources import FLUX, list_clusters, program, reported


def by_statuses(acme: Organisation, *commits: str, **inputs: Any) -> Any:
    given = {"cluster_reports": "commit-statuses", "status_authors": FLUX, **inputs}
    return check(acme, *commits, **given)


def states(result: Any) -> dict[str, str]:
    return {row.id: row.state for row in document(result).rows}


def test_every_listed_cluster_posts_a_success(flux: Organisation) -> None:
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "compliant"
    assert states(result) == {
        "drone-1": "compliant",
        "large-1": "compliant",
        "Large-2": "compliant",
    }
    assert flux.statuses(commit)["dev environment"][1] == "Deployed"


def test_a_listed_cluster_that_is_silent_is_waited_for(flux: Organisation) -> None:
    list_clusters(flux, drone="drone-1, drone-2")
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "timed-out"
    assert states(result)["drone-2"] == "progressing"


@pytest.mark.parametrize("author", [JOBS, "marie"])
def test_a_success_of_others_promotes_nothing(flux: Organisation, author: str) -> None:
    list_clusters(flux, drone="drone-9")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    token = flux.sandbox.create_token("user", None, login=author, owner="acme")
    context = "cluster/drone-9/drone/5d1f0b7a"
    body = {"context": context, "description": "reconciliation succeeded", "state": "success"}
    flux.ask("POST", f"{GITOPS}/statuses/{merged}", body, token=token)
    result = by_statuses(flux, merged, commit)
    assert (verdict(result), states(result)["drone-9"]) == ("timed-out", "progressing")


def test_a_cluster_that_is_not_listed_is_named(flux: Organisation) -> None:
    list_clusters(flux, large="large-1")
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "compliant"
    assert "large-2/large" in str(document(result).warnings)


def test_each_branch_has_its_own_warnings(flux: Organisation) -> None:
    flux.commit({"second.yaml": documents.gitops_repo(flux.url(GITOPS), "two", "two")}, "dev")
    list_clusters(flux, large="large-1")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    flux.reset("two", merged, GITOPS)
    merge(flux, commit, "two")
    result = by_statuses(flux, merged, commit, timeout="2m")
    assert "large-2/large" in str(document(result).warnings)


def test_a_later_commit_needs_lists_as_well(flux: Organisation) -> None:
    hub = documents.cluster_type("hub")
    flux.commit({"cluster-types/hub.yaml": hub}, "dev")
    list_clusters(flux, drone="drone-1, drone-2")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    sleep = flux.clock.sleep

    def merge_and_sleep(seconds: float) -> None:
        flux.commit(tree(commit, ["hub"]), "dev", GITOPS)
        sleep(seconds)

    flux.clock.sleep = merge_and_sleep  # type: ignore[method-assign]  # its methods are fixed
    with pytest.raises(UsageError, match="hub do not list"):
        by_statuses(flux, merged, commit)
    assert flux.statuses(commit)["dev environment"][0] == "failure"


@pytest.mark.parametrize(
    ("inputs", "about"),
    [
        ({"status_authors": ""}, "status-authors"),
        ({"status_authors": f"{FLUX},{JOBS}"}, "every job"),
        ({"stale_after": "1h"}, "stale-after"),
        ({"cluster_reports": "argocd"}, "argocd-servers"),
        ({"cluster_reports": "command"}, "reports-command"),
        ({"cluster_reports": "commit-statuses,moon"}, "moon"),
        (
            {"cluster_reports": "argocd", "argocd_servers": "http://argocd.example"},
            "https",
        ),
        (
            {
                "cluster_reports": "argocd",
                "argocd_servers": "https://a.example,https://b.example",
                "argocd_tokens": "https://a.example=t",
            },
            "https://b.example",
        ),
    ],
)
def test_wrong_inputs_end_the_run_before_it_writes(
    flux: Organisation, inputs: dict[str, str], about: str
) -> None:
    commit = main_commit(flux)
    merged = merge(flux, commit)
    with pytest.raises(UsageError, match=about):
        by_statuses(flux, merged, commit, **inputs)
    assert flux.statuses(commit) == {}


def test_a_cluster_type_without_a_list_ends_the_run_before_it_writes(flux: Organisation) -> None:
    flux.commit({"cluster-types/drone.yaml": documents.cluster_type("drone")}, "dev")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    with pytest.raises(UsageError, match="drone do not list") as raised:
        by_statuses(flux, merged, commit)
    assert "kalypso.io/clusters" in raised.value.problem.advice
    assert flux.statuses(commit) == {}


def by_argocd(acme: Organisation, *commits: str, token: str = "", **inputs: Any) -> Any:
    given = {
        "cluster_reports": "argocd",
        "argocd_servers": acme.sandbox.argocd_url("hub"),
        "argocd_tokens": token or acme.sandbox.argocd.create_token("hub"),
        **inputs,
    }
    return check(acme, *commits, **given)


def test_every_application_is_synced_and_healthy(hub: Organisation) -> None:
    commit = main_commit(hub)
    result = by_argocd(hub, merge(hub, commit), commit)
    assert verdict(result) == "compliant"
    assert states(result) == {"drone-1": "compliant", "large-1": "compliant"}


def test_a_token_that_may_not_see_everything_needs_lists(hub: Organisation) -> None:
    policies = [("applications", "get", "platform/platform-drone-1")]
    token = hub.sandbox.argocd.create_token("hub", policies)
    commit = main_commit(hub)
    merged = merge(hub, commit)
    with pytest.raises(UsageError, match="applications, get"):
        by_argocd(hub, merged, commit, token=token)
    assert hub.statuses(commit) == {}
    list_clusters(hub, drone="drone-1", large="large-1")
    result = by_argocd(hub, merged, commit, token=token)
    assert (verdict(result), states(result)["large-1"]) == ("timed-out", "progressing")


def test_a_look_reads_the_servers_once_for_all_branches(hub: Organisation) -> None:
    hub.commit({"second.yaml": documents.gitops_repo(hub.url(GITOPS), "two", "two")}, "dev")
    commit = main_commit(hub)
    merged = merge(hub, commit)
    hub.reset("two", merged, GITOPS)
    hub.forget()
    by_argocd(hub, merged, commit, timeout="1m")
    lists = [each for each in hub.sandbox.traffic if each.path.endswith("/api/v1/applications")]
    assert len(lists) == 2


def test_an_argocd_that_does_not_answer_ends_the_run(hub: Organisation) -> None:
    commit = main_commit(hub)
    merged = merge(hub, commit)
    with pytest.raises(KalypsoError, match="401"):
        by_argocd(hub, merged, commit, token="wrong")


def test_a_short_pause_is_raised_for_argocd(hub: Organisation) -> None:
    list_clusters(hub, drone="drone-1, drone-2")
    commit = main_commit(hub)
    merged, began = merge(hub, commit), hub.clock()
    result = by_argocd(hub, merged, commit, poll_interval="1s", timeout="2m")
    assert verdict(result) == "timed-out"
    assert (hub.clock() - began).total_seconds() <= 130


def test_a_program_reports(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    command = program(reported("d-1", "drone", merged), reported("l-1", "large", merged))
    result = check(acme, merged, commit, cluster_reports="command", reports_command=command)
    assert verdict(result) == "compliant"
    assert states(result) == {"d-1": "compliant", "l-1": "compliant"}


@pytest.mark.parametrize(
    ("command", "about"),
    [
        ("echo refused >&2; exit 3", r"exit code 3:\nrefused"),
        ("echo '[]'", "kalypso.cluster-reports/v1"),
        ("echo '{}' ; false", "exit code 1"),
        ("printf '\\377'", "UTF-8"),
        ("kill -9 $$", "exit code"),
    ],
)
def test_a_program_that_fails_ends_the_run(acme: Organisation, command: str, about: str) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError, match=about):
        check(acme, merged, commit, cluster_reports="command", reports_command=command)


def test_a_program_gets_only_the_variables_that_are_named(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    command = 'echo "$KALYPSO_BRANCH ${TOKEN_OF_FLEET-none} ${OTHER-none}" >&2; exit 1'
    variables = {"TOKEN_OF_FLEET": "t", "OTHER": "o"}
    inputs: dict[str, Any] = {"cluster_reports": "command", "reports_command": command}
    inputs["variables"] = variables
    with pytest.raises(KalypsoError, match="dev none none"):
        check(acme, merged, commit, **inputs)
    with pytest.raises(KalypsoError, match="dev t none"):
        check(acme, merged, commit, reports_environment="TOKEN_OF_FLEET", **inputs)


def test_several_sources_are_added_up(flux: Organisation) -> None:
    commit = main_commit(flux)
    merged = merge(flux, commit)
    failing = program(reported("drone-1", "drone", merged, "suspended"))
    inputs: dict[str, Any] = {"cluster_reports": "commit-statuses,command"}
    inputs["reports_command"] = failing
    result = by_statuses(flux, merged, commit, **inputs)
    assert (verdict(result), states(result)["drone-1"]) == ("timed-out", "suspended")
    with pytest.raises(KalypsoError, match="exit code 1"):
        by_statuses(flux, merged, commit, **(inputs | {"reports_command": "false"}))
