"""Whether a cluster still exists, and its connection: the client and the simulated Azure."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import responses

from kalypso_actions.clients.resource_graph import cloud_of
from kalypso_actions.clients.resource_graph.service import ResourceManager
from kalypso_sandbox.azure import Azure
from tests.breaks import breaks, turned
from tests.clients.resource_graph.azure import (
    ACCESS_TOKEN,
    ENDPOINT,
    SUBSCRIPTION,
    FakeCredential,
    Waits,
    refusal,
    resource_graph,
)
from tests.sandbox.azure.azure_server import serving
from tests.sandbox.azure.builders import Clock, azure, cluster

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet/providers"
AKS = f"{GROUP}/Microsoft.ContainerService/managedClusters/large-1"
ARC = f"{GROUP}/Microsoft.Kubernetes/connectedClusters/drone-1"


def is_gone(resource: str, **answer: Any) -> bool:
    """Return the client's result for an answer; without one, it must not send a request."""
    manager = ResourceManager(FakeCredential(), cloud_of("public", {}), {})
    with responses.RequestsMock() as server:
        if answer:
            server.get(f"{ENDPOINT}{resource}", **answer)
        gone = manager.is_gone(resource)
        for call in server.calls:
            assert call.request.headers["Authorization"].startswith(f"Bearer {ACCESS_TOKEN}")
        manager.close()
    return gone


@pytest.mark.parametrize("resource", [AKS, ARC, ARC.lower()])
@pytest.mark.parametrize("code", ["ResourceNotFound", "ResourceGroupNotFound", "NotFound"])
def test_a_cluster_that_azure_does_not_find(resource: str, code: str) -> None:
    assert is_gone(resource, status=404, json=refusal(code))


@breaks(
    "every 404 means a deleted cluster",
    turned(
        ResourceManager.is_gone,
        "response.status_code == 404 and _code(response) in NOT_FOUND",
        "response.status_code == 404",
    ),
)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"status": 200, "json": {"id": AKS}}, id="it exists"),
        pytest.param({"status": 404, "json": refusal("InvalidResourceType")}, id="no such type"),
        pytest.param({"status": 404, "json": refusal("SubscriptionNotFound")}, id="another tenant"),
        pytest.param({"status": 404, "body": "<html>Not Found"}, id="a proxy"),
        pytest.param({"status": 404, "json": []}, id="another form"),
        pytest.param({"status": 403, "json": refusal("AuthorizationFailed")}, id="no role"),
        pytest.param({"status": 400, "json": refusal("NoRegisteredProviderFound")}, id="a version"),
        pytest.param({"status": 401, "json": refusal("AuthenticationFailed")}, id="no token"),
        pytest.param({"status": 429, "json": refusal("TooManyRequests")}, id="throttled"),
        pytest.param({"status": 500}, id="a fault"),
        pytest.param({"body": requests.ConnectionError("reset")}, id="no answer"),
        pytest.param(
            {"status": 307, "headers": {"Location": "https://elsewhere.example/x"}}, id="elsewhere"
        ),
    ],
)
def test_any_other_answer_proves_nothing(answer: dict[str, Any]) -> None:
    assert not is_gone(AKS, **answer)


@pytest.mark.parametrize(
    "resource",
    [
        "clusters/drone-1",
        f"{GROUP}/Microsoft.Elsewhere/clusters/x",
        f"{AKS}/../../x",
        f"{AKS}?x=1",
        f"{AKS}\n",
    ],
)
def test_nobody_asks_for_other_resources(resource: str) -> None:
    assert not is_gone(resource)


@pytest.fixture
def simulated(tmp_path: Any) -> Azure:
    return azure(
        tmp_path,
        Clock(),
        cluster("drone-1", kind="arc", connectivity="Offline"),
        cluster("drone-2", kind="arc", connectivity="Expired"),
        cluster("drone-3", kind="arc", connectivity="Connecting"),
        cluster("drone-4", kind="arc"),
        cluster("large-1", power="Stopped"),
        cluster("large-2"),
    )


def test_the_simulated_clusters(simulated: Azure) -> None:
    simulated.settings.linger = 60
    simulated.settings.unreadable = ["33333333-3333-4333-8333-333333333333"]
    hidden = simulated.put(cluster("hidden", subscription=simulated.settings.unreadable[0]))
    connected = simulated.put(cluster("drone-4", kind="arc")).id
    deleted = simulated.put(cluster("drone-5", kind="arc")).id
    simulated.delete("drone-5")
    lone = simulated.put(cluster("lone", resource_group="gone")).id
    simulated.delete("lone")
    credential = FakeCredential()
    credential.token = simulated.issue_token()
    with serving(simulated) as url:
        environment = {"KALYPSO_AZURE_RESOURCE_MANAGER": url}
        manager = ResourceManager(credential, cloud_of("public", environment), environment)
        gone = {
            cluster: manager.is_gone(cluster) for cluster in (connected, deleted, hidden.id, lone)
        }
        manager.close()
    assert gone == {connected: False, deleted: True, hidden.id: False, lone: True}
    rows = simulated.tables()["resources"]
    assert {"drone-5", "lone"} <= {row["name"] for row in rows}, "their rows linger"


def test_lost_connections(simulated: Azure) -> None:
    credential = FakeCredential()
    credential.token = simulated.issue_token()
    with (
        serving(simulated) as url,
        resource_graph(
            Waits(), credential=credential, environment={"KALYPSO_AZURE_RESOURCE_MANAGER": url}
        ) as client,
    ):
        lost = client.lost_connections()
    assert {name.rpartition("/")[2]: word for name, word in lost.items()} == {
        "drone-1": "Offline",
        "drone-2": "Expired",
        "large-1": "Stopped",
    }
