"""Resource Graph's answers, and a client that reads them without waiting."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import responses
from azure.core.credentials import AccessToken

from kalypso_actions.clients.resource_graph import ResourceGraph, cloud_of
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import ClusterReport

ENDPOINT = "https://management.azure.com"
RESOURCES = f"{ENDPOINT}/providers/Microsoft.ResourceGraph/resources"
REPOSITORY = "https://github.com/acme/gitops"
SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"
OTHER_SUBSCRIPTION = "33333333-3333-4333-8333-333333333333"
ACCESS_TOKEN = "access-token-of-the-test"


def row(cluster: str = "large-1", **properties: object) -> dict[str, Any]:
    """Return a Flux configuration as the query projects it; properties replace its own."""
    return {
        "id": f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet/providers/"
        f"Microsoft.ContainerService/managedClusters/{cluster}/providers/"
        "Microsoft.KubernetesConfiguration/fluxConfigurations/cluster-config",
        "url": REPOSITORY,
        "complianceState": "Compliant",
        "provisioningState": "Succeeded",
        "suspend": False,
        "sourceSyncedCommitId": "dev@sha1:c4e327286379495f8b6edc2c9c208095b6cc53ab",
        "sourceUpdatedAt": "2022-05-13T11:54:42+00:00",
        "statusUpdatedAt": "2022-05-13T11:54:54.830000+00:00",
        "errorMessage": "",
        "kustomizations": {"apps": {"path": "./large", "dependsOn": [], "prune": True}},
        "statuses": [],
        **properties,
    }


def page(
    rows: Sequence[object], total: int | None = None, *, token: str = "", truncated: bool = False
) -> dict[str, Any]:
    """Return an answer with status 200."""
    return {
        "totalRecords": len(rows) if total is None else total,
        "count": len(rows),
        "data": rows,
        "facets": [],
        "resultTruncated": "true" if truncated else "false",
        **({"$skipToken": token} if token else {}),
    }


def refusal(code: str, message: str = "", *details: tuple[str, str]) -> dict[str, Any]:
    """Return the body of a refusal."""
    nested = [{"code": name, "message": text} for name, text in details]
    return {"error": {"code": code, "message": message, "details": nested}}


class FakeCredential:
    """A credential with one access token, and another one after `forget_tokens`."""

    def __init__(self) -> None:
        self.token = ACCESS_TOKEN

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken(self.token, int(time.time()) + 3600)

    def forget_tokens(self) -> None:
        self.token += "-anew"


@dataclass
class Waits:
    """A clock that moves only by sleeping."""

    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def now(self) -> float:
        return 1000.0 + sum(self.slept)


def resource_graph(
    waits: Waits,
    *,
    scopes: Sequence[str] = (SUBSCRIPTION,),
    max_wait: float = 900.0,
    credential: FakeCredential | None = None,
    environment: Mapping[str, str] | None = None,
) -> ResourceGraph:
    """Yield the client of the tests."""
    return ResourceGraph(
        credential or FakeCredential(),
        cloud=cloud_of("public", environment or {}),
        scopes=scopes,
        environment=environment or {},
        max_wait=max_wait,
        sleep=waits.sleep,
        now=waits.now,
    )


def request_bodies(server: responses.RequestsMock) -> list[dict[str, Any]]:
    """Return the bodies of the requests so far."""
    return [json.loads(call.request.body or b"") for call in server.calls]


def read(
    waits: Waits, *answers: dict[str, Any], **settings: Any
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the clusters of a reading with these answers, and the requests."""
    with responses.RequestsMock() as server, resource_graph(waits, **settings) as client:
        for answer in answers:
            server.post(RESOURCES, **answer)
        return names(client.cluster_reports(REPOSITORY, "dev")), request_bodies(server)


def names(reports: tuple[ClusterReport, ...]) -> list[str]:
    return [report.cluster.split("/")[8] for report in reports]


def refused(*answers: dict[str, Any], waits: Waits | None = None, **settings: Any) -> KalypsoError:
    """Return the error of a reading with these answers."""
    with pytest.raises(KalypsoError) as raised:
        read(waits or Waits(), *answers, **settings)
    return raised.value
