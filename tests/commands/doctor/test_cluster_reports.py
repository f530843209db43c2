"""What doctor tells of clusters that report by commit statuses or in Argo CD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kalypso_actions.commands.demo.organisation import CLUSTERS, CONTROL_PLANE, GITOPS
from kalypso_actions.commands.sandbox import HUB
from kalypso_actions.inputs.local import DemoClusterReports
from kalypso_sandbox.azure import Cluster, Configuration
from tests.commands.doctor.organisation import Acme, acme, lines


@pytest.fixture
def reporting(tmp_path: Path) -> Iterator[Callable[[DemoClusterReports], Acme]]:
    """Make Acme with a source of cluster reports, of which every cluster has reported."""
    opened = []

    def make(source: DemoClusterReports) -> Acme:
        context = acme(tmp_path, cluster_reports=source)
        organisation = context.__enter__()
        opened.append(context)
        for branch, counts in CLUSTERS.items():
            files = {f"{name}/app/namespace.yaml": "kind: Namespace\n" for name in counts}
            organisation.sandbox.commit(GITOPS, files, branch=branch)
        wait(organisation)
        return organisation

    yield make
    for context in opened:
        context.__exit__(None, None, None)


def wait(organisation: Acme) -> None:
    """Let the clusters apply what was pushed."""
    organisation.clock.sleep(600)  # type: ignore[attr-defined]
    organisation.sandbox.post_cluster_statuses()


def of_source(organisation: Acme, *states: str) -> list[str]:
    """Return the lines of the source: those of a place that is no repository."""
    document = organisation.doctor()
    return [line for line in lines(document, *states) if " Commit" in line or " Argo" in line]


@pytest.mark.parametrize("source", ["commit-statuses", "argocd"])
def test_every_cluster_reports(
    reporting: Callable[[DemoClusterReports], Acme], source: DemoClusterReports
) -> None:
    organisation = reporting(source)
    document = organisation.doctor()
    assert lines(document, "warning", "problem") == []
    printed = "\n".join(lines(document))
    assert f"{GITOPS}, branch dev is followed by 8 configurations of clusters" in printed
    assert "KALYPSO_CLUSTER_REPORTS" in printed
    assert "AZURE" not in printed
    if source == "argocd":
        assert "v3.1.8+becb020; the token sees everything" in printed


def list_clusters(organisation: Acme, **clusters: str) -> None:
    path = "cluster-types/north.yaml"
    text = organisation.sandbox.git(CONTROL_PLANE).files("dev")[path].decode()
    for before, after in clusters.items():
        text = text.replace(before.replace("_", "-"), after)
    organisation.sandbox.commit(CONTROL_PLANE, {path: text}, branch="dev")


def test_faults_of_commit_statuses(reporting: Callable[[DemoClusterReports], Acme]) -> None:
    organisation = reporting("commit-statuses")
    list_clusters(organisation, dev_drone_3="dev-drone-7")
    head = organisation.sandbox.git(GITOPS).head("dev")
    body = {"state": "success", "context": "cluster/dev-drone-1/drone/x", "description": "fine"}
    organisation.ask("POST", f"/repos/{GITOPS}/statuses/{head}", body)
    (app,) = (app for app in organisation.sandbox.store.apps.values() if "clusters" in app.slug)
    given = {"repository": GITOPS, "branch": "dev", "paths": ["./drone"], "name": "platform"}
    settings = {"app": app.id, "cluster_type": "drone", "expression": False}
    configuration = Configuration.model_validate({**given, "notifications": settings})
    organisation.sandbox.azure.put(
        Cluster(name="new", kind="other", configurations=[configuration])
    )
    organisation.sandbox.commit(GITOPS, {"drone/app/config.yaml": "b: 1"}, branch="dev")
    wait(organisation)
    told = "\n".join(of_source(organisation, "warning", "problem"))
    for text in (
        "1 cluster in kalypso.io/clusters did not report: dev-drone-7 (drone)",
        "dev-drone-3/drone reports, and is not listed",
        "such as cluster/dev-drone-1/drone/x, and status-authors does not name it",
        "commitStatusExpr is missing on the Provider whose uid begins with 5d1f0b7a",
    ):
        assert text in told


def test_a_cluster_type_without_a_list(reporting: Callable[[DemoClusterReports], Acme]) -> None:
    organisation = reporting("commit-statuses")
    list_clusters(organisation, **{"kalypso.io/clusters": "example.com/clusters"})
    told = of_source(organisation, "problem")
    assert ["do not list their clusters" in line for line in told] == [True]
    assert "command-center, drone" in told[0]


def test_sources_are_those_of_the_variables(
    reporting: Callable[[DemoClusterReports], Acme],
) -> None:
    """Without options, doctor asks where check-promote.yaml asks; Azure needs no variable then."""
    organisation = reporting("commit-statuses")
    organisation.reporting.clear()
    wait(organisation)
    printed = of_source(organisation, "ok")
    assert any("branch dev is followed by 8 configurations" in line for line in printed), printed
    assert "AZURE" not in str(organisation.doctor())


def test_faults_of_argocd(reporting: Callable[[DemoClusterReports], Acme]) -> None:
    organisation = reporting("argocd")
    policies = [("applications", "get", "platform/platform-dev-*")]
    token = organisation.sandbox.argocd.create_token(HUB, policies)
    organisation.reporting["argocd-tokens"] = token
    application = {"server": HUB, "destination": "server"}
    given = {"repository": GITOPS, "branch": "dev", "paths": ["./drone"]}
    configuration = Configuration.model_validate({**given, "application": application})
    organisation.sandbox.azure.put(
        Cluster(name="dev-new", kind="other", configurations=[configuration])
    )
    wait(organisation)
    told = "\n".join(of_source(organisation, "warning", "problem"))
    for text in (
        "the token may not see all Applications",
        "the list of clusters does not name the server 'https://dev-new.k8s.example:6443'",
        "branch stage is followed by 0 configurations",
    ):
        assert text in told
    organisation.reporting["argocd-tokens"] = "wrong"
    (refused,) = of_source(organisation, "problem")
    assert "answers 401" in refused
