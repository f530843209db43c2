"""Rows have Azure's format, and show the state of the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Cluster
from kalypso_sandbox.azure.rows import COLUMNS, Row, configuration_row
from kalypso_sandbox.azure.sync import sync_state
from tests.sandbox.azure.builders import Clock, at, azure, cluster, configuration, pushes, sha

SERVER = "http://127.0.0.1:8000"

RECORDED = {
    "repositoryPublicKey",
    "complianceState",
    "configurationProtectedSettings",
    "errorMessage",
    "gitRepository",
    "kustomizations",
    "namespace",
    "provisioningState",
    "scope",
    "sourceKind",
    "sourceSyncedCommitId",
    "sourceUpdatedAt",
    "statusUpdatedAt",
    "statuses",
    "suspend",
    "bucket",
    "azureBlob",
    "ociRepository",
}
"""Properties of a row from a response of Azure, and the sources that newer versions know."""


def row(
    seconds: float = 100,
    *,
    owner: Cluster | None = None,
    heads: Sequence[tuple[float, str]] = ((0, "a"),),
    broken: str = "",
    **fields: Any,
) -> Row:
    """Return the row of a cluster at a moment; its branch has one commit."""
    made = configuration(**fields)
    now = sync_state(made, pushes(*heads), lambda commit: commit in broken, at(seconds))
    return configuration_row(owner or Cluster(name="drone-1"), made, now, SERVER)


def properties(seconds: float = 100, **fields: Any) -> Any:
    return row(seconds, **fields)["properties"]


def conditions(seconds: float, **fields: Any) -> list[tuple[str, ...]]:
    """Return kind, state and reason of every object."""
    return [
        (status["kind"], status["complianceState"], condition["status"], condition["reason"])
        for status in properties(seconds, **fields)["statuses"]
        for condition in status["statusConditions"]
    ]


def test_a_row_has_all_columns_of_the_table() -> None:
    place = {"subscription": "5ub", "resource_group": "Edge-RG", "location": "uksouth"}
    shown = row(owner=Cluster(name="Drone-1", **place))
    assert list(shown) == list(COLUMNS)
    assert shown["id"] == (
        "/subscriptions/5ub/resourceGroups/Edge-RG/providers/Microsoft.ContainerService"
        "/managedClusters/Drone-1/providers/Microsoft.KubernetesConfiguration"
        "/fluxConfigurations/cluster-config"
    )
    assert shown["type"] == "microsoft.kubernetesconfiguration/fluxconfigurations"
    assert (shown["name"], shown["resourceGroup"]) == ("cluster-config", "edge-rg")
    assert (shown["subscriptionId"], shown["location"]) == ("5ub", "uksouth")
    assert shown["properties"].keys() == RECORDED


def test_clusters_of_azure_arc_have_another_provider() -> None:
    shown = cluster(kind="arc")
    assert shown.id.endswith("/providers/Microsoft.Kubernetes/connectedClusters/drone-1")


@pytest.mark.parametrize(
    ("repository", "url"),
    [
        ("acme/fleet", f"{SERVER}/acme/fleet"),
        ("https://GitHub.com/acme/fleet.git", "https://GitHub.com/acme/fleet.git"),
        ("git@github.com:acme/fleet", "git@github.com:acme/fleet"),
        ("ssh://git@github.com/acme/fleet/", "ssh://git@github.com/acme/fleet/"),
    ],
)
def test_urls_are_reported_as_given(repository: str, url: str) -> None:
    shown = properties(repository=repository, branch="edge@1/x", sync_interval=60)["gitRepository"]
    assert shown["url"] == url
    assert shown["repositoryRef"]["branch"] == "edge@1/x"
    assert shown["syncIntervalInSeconds"] == 60


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("old", f"edge@1/x/{sha('a')}"),
        ("new", f"edge@1/x@sha1:{sha('a')}"),
        ("bare", f"sha1:{sha('a')}"),
    ],
)
def test_revisions_have_the_form_of_the_clusters_flux(form: dict[str, str], expected: str) -> None:
    assert properties(revision=form, branch="edge@1/x")["sourceSyncedCommitId"] == expected


def test_before_the_first_sync_nothing_is_known() -> None:
    shown = properties(5, delay=10)
    assert shown["complianceState"] == "Pending"
    assert (shown["sourceSyncedCommitId"], shown["sourceUpdatedAt"]) == (None, None)
    assert shown["statuses"] == []
    assert shown["statusUpdatedAt"] == "2026-07-01T12:00:00.000000+00:00"


def test_times_are_written_as_azure_does() -> None:
    shown = properties(25, delay=10, settle=4)
    assert shown["sourceUpdatedAt"] == "2026-07-01T12:00:10+00:00"
    assert shown["statusUpdatedAt"] == "2026-07-01T12:00:14.000000+00:00"
    condition = shown["statuses"][1]["statusConditions"][0]
    assert condition == {
        "type": "Ready",
        "status": "True",
        "reason": "ReconciliationSucceeded",
        "message": f"Applied revision: dev@sha1:{sha('a')}",
        "lastTransitionTime": "2026-07-01T12:00:14+00:00",
    }


@pytest.mark.parametrize(
    ("seconds", "state"),
    [(9, "Pending"), (12, "Pending"), (17, "Non-Compliant"), (20, "Compliant")],
)
def test_states_of_a_sync(seconds: float, state: str) -> None:
    assert properties(seconds, delay=10, settle=10)["complianceState"] == state


STORED = ("GitRepository", "Compliant", "True", "Succeeded")
READY = ("Kustomization", "Compliant", "True", "ReconciliationSucceeded")
BROKEN = ("Non-Compliant", "False")
BUSY = ("Kustomization", "Pending", "Unknown", "Progressing")


def test_one_kustomization_progresses() -> None:
    assert conditions(12, delay=10, settle=10) == [STORED, BUSY]
    assert conditions(17, delay=10, settle=10) == [
        STORED,
        ("Kustomization", "Non-Compliant", "False", "Progressing"),
    ]
    assert conditions(20, delay=10, settle=10) == [STORED, READY]


def test_a_kustomization_waits_for_the_one_before_it() -> None:
    given = {"settle": 10, "paths": ["./infra", "./drone"]}
    assert conditions(7, **given) == [
        STORED,
        BUSY,
        ("Kustomization", "Non-Compliant", "False", "DependencyNotReady"),
    ]
    waiting = properties(7, **given)["statuses"][2]
    assert waiting["name"] == "cluster-config-drone"
    message = "dependency 'flux-system/cluster-config-infra' is not ready"
    assert waiting["statusConditions"][0]["message"] == message


def test_a_broken_commit_fails_with_a_reason() -> None:
    given: dict[str, Any] = {
        "behaviour": "fail",
        "broken": sha("a"),
        "paths": ["./infra", "./drone"],
        "failure": {"reason": "BuildFailed", "message": "no such file"},
    }
    assert properties(**given)["complianceState"] == "Non-Compliant"
    assert conditions(100, **given) == [
        STORED,
        READY,
        ("Kustomization", "Non-Compliant", "False", "BuildFailed"),
    ]
    last = properties(**given)["statuses"][2]["statusConditions"][0]
    assert last["message"] == "no such file"


@pytest.mark.parametrize(
    ("ordered", "drone"), [(False, READY), (True, (*BUSY[:1], *BROKEN, "DependencyNotReady"))]
)
def test_one_of_several_kustomizations_fails(ordered: bool, drone: tuple[str, ...]) -> None:
    given: dict[str, Any] = {
        "behaviour": "fail",
        "broken": sha("a"),
        "paths": ["./infra", "./drone"],
        "ordered": ordered,
        "failure": {"kustomization": "infra"},
    }
    infra = ("Kustomization", *BROKEN, "HealthCheckFailed")
    assert conditions(100, **given) == [STORED, infra, drone]
    shown = properties(**given)["kustomizations"].values()
    assert [each["dependsOn"] for each in shown] == [None, ["infra"] if ordered else None]
    release = properties(**given, releases=True)["statuses"][2]
    assert (release["name"], release["complianceState"]) == ("infra-release", "Non-Compliant")
    assert release["appliedBy"] == {"name": "cluster-config-infra", "namespace": "flux-system"}
    assert properties(**given, tells_statuses=False)["statuses"] == []


def test_kustomizations_keep_the_revision_before_until_they_begin() -> None:
    given: dict[str, Any] = {"heads": ((0, "a"), (50, "b")), "reconcile_delay": 20}
    early = properties(60, **given)
    assert early["sourceSyncedCommitId"] == f"dev@sha1:{sha('b')}"
    assert early["complianceState"] == "Compliant"
    messages = [
        properties(seconds, **given)["statuses"][1]["statusConditions"][0]["message"]
        for seconds in (60, 70)
    ]
    assert messages == [f"Applied revision: dev@sha1:{sha(letter)}" for letter in "ab"]


def test_a_nested_kustomization_has_its_own_revision() -> None:
    nested = properties(nested=True, releases=True)["statuses"][2:]
    assert [item["kind"] for item in nested] == ["HelmRelease", "Kustomization"]
    assert {item["appliedBy"]["name"] for item in nested} == {"cluster-config-drone"}
    messages = [item["statusConditions"][0]["message"] for item in nested]
    assert messages == ["Helm upgrade succeeded", f"Applied revision: main@sha1:{'5' * 40}"]
    failure = {"kustomization": "drone-app"}
    broken = properties(nested=True, behaviour="fail", broken=sha("a"), failure=failure)
    assert [status["complianceState"] for status in broken["statuses"][1:]] == [
        "Compliant",
        "Non-Compliant",
    ]


def test_a_suspended_configuration_says_so() -> None:
    shown = properties(behaviour="suspended", since=at(10))
    assert (shown["suspend"], shown["complianceState"]) == (True, "Suspended")
    assert shown["sourceSyncedCommitId"] == f"dev@sha1:{sha('a')}"


@pytest.mark.parametrize("kind", ["Bucket", "AzureBlob", "OCIRepository"])
def test_other_sources_name_no_git_repository(kind: str) -> None:
    shown = properties(source_kind=kind, repository="https://storage.example/x")
    assert shown["gitRepository"] is None
    assert shown[kind[0].lower() + kind[1:] if kind != "OCIRepository" else "ociRepository"] == {
        "url": "https://storage.example/x",
        "timeoutInSeconds": 600,
        "syncIntervalInSeconds": 600,
    }
    assert shown["statuses"] == []
    assert (shown["sourceKind"], shown["complianceState"]) == (kind, "Compliant")


def test_provisioning_and_errors_are_reported_as_given() -> None:
    shown = properties(provisioning_state="Failed", error_message="no agent")
    assert (shown["provisioningState"], shown["errorMessage"]) == ("Failed", "no agent")


def test_kustomizations_are_named_by_their_paths() -> None:
    shown = properties(paths=["./", "./drone/", "./x/Drone", "./x/other"])["kustomizations"]
    assert [(name, each["path"], each["dependsOn"]) for name, each in shown.items()] == [
        ("root", "./", None),
        ("drone", "./drone/", ["root"]),
        ("drone-2", "./x/Drone", ["drone"]),
        ("other", "./x/other", ["drone-2"]),
    ]


def test_a_clock_that_ticks_hides_no_cluster(tmp_path: Path) -> None:
    class Ticking(Clock):
        def __call__(self) -> datetime:
            self.seconds += 1
            return super().__call__()

    made = azure(tmp_path, Ticking(), *(cluster(f"drone-{number}") for number in range(3)))
    assert len(made.tables()["resources"]) == 3
