"""`kalypso clusters` and `kalypso status --clusters`: what the sources report, without a promotion."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from kalypso_actions.commands.clusters import clusters
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.status import status
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import ClustersInputs, StatusInputs
from kalypso_actions.report.clusters_document import (
    ClustersDocument,
    ObservedBranchEntry,
    print_clusters,
)
from kalypso_actions.report.status_document import StatusDocument
from tests.command_line import call_kalypso
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import main_commit, merge
from tests.commands.chain.report_sources import FLUX, add_cluster, list_clusters, program, reported
from tools.reference.schemas import schema_of


def shown(acme: Organisation, **inputs: Any) -> ClustersDocument:
    made: list[ClustersDocument] = []

    def command(given: ClustersInputs, context: CommandContext) -> CommandResult:
        made.append(clusters(given, context))
        return CommandResult(made[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.forget()
    acme.run(command, ClustersInputs, **inputs)
    assert acme.writes() == []
    return made[0]


def branch(document: ClustersDocument, environment: str = "dev") -> ObservedBranchEntry:
    return next(each for each in document.branches if each.environment == environment)


def text(document: ClustersDocument) -> str:
    console = Console(width=160, record=True, file=None, highlight=False)
    with console.capture() as capture:
        print_clusters(console, document)
    return capture.get()


BY_STATUSES: dict[str, Any] = {"cluster_reports": "commit-statuses", "status_authors": FLUX}


def test_who_is_expected_and_who_reports_what(flux: Organisation) -> None:
    list_clusters(flux, drone="drone-1, drone-2", large="large-1")
    merged = merge(flux, main_commit(flux))
    flux.clock.sleep(180)
    command = program(reported("DRONE-1", "drone", merged, "failed"))
    inputs = {**BY_STATUSES, "cluster_reports": "commit-statuses,command"}
    document = shown(flux, reports_command=command, environment="dev", **inputs)
    entry = branch(document)
    assert (entry.repository, entry.branch, entry.commit) == (GITOPS, "dev", merged)
    assert document.sources == ("Commit statuses", "reports-command")
    rows = {each.name: each for each in entry.clusters}
    assert {name: (each.expected, each.state) for name, each in rows.items()} == {
        "drone-1": (True, "failed"),
        "drone-2": (True, "progressing"),
        "large-1": (True, "compliant"),
    }
    reports = [(each.source, each.commit, each.state) for each in rows["drone-1"].reports]
    assert reports == [
        ("Commit statuses", merged, "Compliant"),
        ("reports-command", merged, "Non-Compliant"),
    ]
    assert rows["drone-2"].reports == ()
    assert "large-2/large reports, and is not listed" in str(document.warnings)
    assert document.problems == ()
    lines = text(document)
    assert f"dev  {GITOPS}@dev {merged[:7]}: 3 clusters" in lines
    assert "drone lists it, and it has not reported" in lines


def test_all_branches_by_one_read_of_argocd(hub: Organisation) -> None:
    add_cluster(hub, "stage-1", "drone", branch="stage", application={"server": "hub"})
    commit = main_commit(hub)
    merge(hub, commit)
    merge(hub, commit, "stage")
    hub.clock.sleep(120)
    inputs = {"argocd_servers": hub.sandbox.argocd_url("hub")}
    inputs["argocd_tokens"] = hub.sandbox.argocd.create_token("hub")
    document = shown(hub, cluster_reports="argocd", **inputs)
    assert [each.name for each in branch(document).clusters] == ["drone-1", "large-1"]
    assert [each.name for each in branch(document, "stage").clusters] == ["stage-1"]
    assert branch(document, "stage").missing == ("large",)
    assert not any(each.expected for each in branch(document).clusters)
    lists = [each for each in hub.sandbox.traffic if each.path.endswith("/api/v1/applications")]
    assert len(lists) == 1


def test_the_command_line(hub: Organisation) -> None:
    merge(hub, main_commit(hub))
    hub.clock.sleep(120)
    token = hub.sandbox.argocd.create_token("hub")
    variables = {"PATH": os.environ["PATH"], **hub.sandbox.environment(hub.token)}
    variables["KALYPSO_ARGOCD_TOKENS"] = token
    given = [
        *("clusters", "--control-plane", CONTROL_PLANE, "--environment", "dev"),
        *("--cluster-reports", "argocd", "--argocd-servers", hub.sandbox.argocd_url("hub")),
    ]
    done = call_kalypso(*given, "--output", "json", variables=variables)
    printed = json.loads(done.stdout)
    Draft202012Validator(schema_of(ClustersDocument)).validate(printed)
    assert [each["state"] for each in printed["branches"][0]["clusters"]] == ["compliant"] * 2
    told = call_kalypso(*given, variables=variables)
    assert "drone-1  drone  no        compliant" in told.stdout
    assert token not in done.stdout + done.stderr + told.stdout + told.stderr
    del variables["KALYPSO_ARGOCD_TOKENS"]
    failed = call_kalypso(*given, variables=variables)
    assert (failed.returncode, done.returncode) == (1, 0)
    assert "argocd-tokens has no token" in failed.stdout


def test_a_source_that_cannot_be_read_hides_no_other(flux: Organisation) -> None:
    merge(flux, main_commit(flux))
    flux.clock.sleep(120)
    inputs = {**BY_STATUSES, "cluster_reports": "commit-statuses,command,argocd"}
    document = shown(flux, reports_command="exit 3", environment="dev", **inputs)
    assert {each.state for each in branch(document).clusters} == {"compliant"}
    assert [each.message.partition(":")[0] for each in document.problems] == [
        "the reports-command ended with exit code 3",
        "argocd-servers is missing",
    ]


def test_a_missing_list_is_a_warning_where_nothing_waits(flux: Organisation) -> None:
    flux.commit({"cluster-types/drone.yaml": documents.cluster_type("drone")}, "dev")
    commit = main_commit(flux)
    merge(flux, commit)
    merge(flux, commit, "stage")
    document = shown(flux, **BY_STATUSES)
    assert branch(document).unlisted == ("drone",)
    assert branch(document).missing == ("drone",)
    told = " ".join(each.message for each in document.warnings)
    assert "the cluster type drone does not list its clusters" in told
    assert "the cluster types drone, large do not list their clusters" in told


def test_a_source_that_was_not_read_says_nothing_of_silence(flux: Organisation) -> None:
    merge(flux, main_commit(flux))
    document = shown(flux, environment="dev", cluster_reports="commit-statuses")
    assert {(each.state, each.reason) for each in branch(document).clusters} == {
        ("not known", "a source could not be read")
    }


@pytest.mark.parametrize(
    ("context", "author", "told"),
    [
        ("cluster/drone-1/drone", "marie", "marie posts statuses of clusters, such as"),
        ("cluster/drone-1", FLUX, f"{FLUX} posts the context cluster/drone-1, which names no"),
        ("kustomization/apps/1a2b3c4d", FLUX, "commitStatusExpr is missing on the Provider"),
        ("cluster/drone-1/moon", FLUX, "drone-1/moon reports, and is not listed: no ClusterType"),
    ],
)
def test_what_is_wrong_with_how_clusters_post(
    flux: Organisation, context: str, author: str, told: str
) -> None:
    commit = merge(flux, main_commit(flux))
    text = "reconciliation succeeded"
    token = flux.sandbox.create_token("user", None, login=author, owner="acme")
    body = {"context": context, "description": text, "state": "success"}
    flux.ask("POST", f"{GITOPS}/statuses/{commit}", body, token=token)
    messages = [each.message for each in shown(flux, **BY_STATUSES, environment="dev").warnings]
    assert [message for message in messages if message.startswith(told)], messages


def test_nobody_is_expected_before_the_first_merge(flux: Organisation) -> None:
    messages = [each.message for each in shown(flux, **BY_STATUSES, environment="dev").warnings]
    assert any("have no assignment there" in message for message in messages), messages


@pytest.mark.parametrize("author", ["@fleet", "app/fleet", "fleet[bot", "fleet bot"])
def test_a_text_that_is_no_login(flux: Organisation, author: str) -> None:
    document = shown(
        flux, environment="dev", cluster_reports="commit-statuses", status_authors=author
    )
    assert f"status-authors: {author} is no login" in str(document.problems)


def test_an_unknown_environment(flux: Organisation) -> None:
    with pytest.raises(UsageError, match="moon"):
        shown(flux, environment="moon")


def test_status_counts_clusters_by_all_sources(flux: Organisation) -> None:
    list_clusters(flux, drone="drone-1, drone-2")
    commit = main_commit(flux)
    merge(flux, commit)
    flux.clock.sleep(120)
    made: list[StatusDocument] = []

    def command(given: StatusInputs, context: CommandContext) -> CommandResult:
        made.append(status(given, context))
        return CommandResult(made[0], "")  # type: ignore[arg-type]  # it has no summary

    flux.run(command, StatusInputs, clusters="true", environment="dev", **BY_STATUSES)
    [entry] = made[0].environments
    assert entry.clusters == {"compliant": 3, "progressing": 1}
    assert [each.name for each in entry.not_compliant or ()] == ["drone-2"]
    with pytest.raises(UsageError, match="status-authors"):
        flux.run(command, StatusInputs, clusters="true", cluster_reports="commit-statuses")
    assert json.loads(made[0].to_json())["environments"][0]["warnings"] == []
