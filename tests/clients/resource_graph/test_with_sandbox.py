"""The client and the simulated Azure, over HTTP and TLS: nothing between them is replaced."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.azure import Azure, JobIdentity, QueryFault
from kalypso_sandbox.azure.identity import Application
from tests.clients.resource_graph.azure import OTHER_SUBSCRIPTION, SUBSCRIPTION, Waits
from tests.sandbox.azure.azure_server import certificate, serving
from tests.sandbox.azure.builders import Clock, azure, cluster, push

SUBJECT = "repo:acme/fleet:environment:dev"
Connect = Callable[..., ResourceGraph]


@pytest.fixture
def simulated(tmp_path: Path) -> Azure:
    clusters = [cluster(f"drone-{number}") for number in range(5)]
    strangers = [cluster("other-branch", branch="test"), cluster("other", repository="acme/fleet2")]
    simulated = azure(tmp_path, Clock(), *clusters, *strangers)
    push(simulated.store, {"drone/a": "1"})
    simulated.settings.page_size = 2
    return simulated


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


def signed_in(
    environment: Mapping[str, str],
    waits: Waits | None = None,
    *,
    scopes: tuple[str, ...] = (),
    **given: Any,
) -> ResourceGraph:
    cloud = cloud_of("public", environment)
    inputs = {"client_id": "", "tenant_id": "", "credentials": "", **given}
    clock = waits or Waits()
    return ResourceGraph(
        azure_credential(**inputs, cloud=cloud, environment=environment, sleep=clock.sleep),
        cloud=cloud,
        scopes=scopes,
        environment=environment,
        sleep=clock.sleep,
        now=clock.now,
    )


def use_managed_identity(made: Azure, url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    environment = made.environment(url)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)  # where Azure's library looks for it
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.delenv("AZURE_CLIENT_ID", raising=False)
    return environment


@pytest.fixture
def managed(simulated: Azure, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Yield a function that signs in by a managed identity."""
    with serving(simulated) as url:
        yield partial(signed_in, use_managed_identity(simulated, url, monkeypatch))


def found(client: ResourceGraph, made: Azure) -> list[str]:
    url = f"{made.store.server_url}/acme/fleet.git"
    return [report.cluster.split("/")[8] for report in client.cluster_reports(url, "dev")]


def test_a_managed_identity_reads_all_pages_through_throttling(
    simulated: Azure, managed: Connect
) -> None:
    simulated.settings.faults += [
        QueryFault(kind="throttled", skip=1),
        QueryFault(kind="throttled", skip=2, retry_after=2),
    ]
    waits = Waits()
    with managed(waits) as client:
        assert found(client, simulated) == [f"drone-{number}" for number in range(5)]
    assert sorted(waits.slept) == [2.0, 5.0]


def test_pages_are_halved_until_an_answer_fits(simulated: Azure, managed: Connect) -> None:
    """Resource Graph answers at most 16 MiB; here, about two rows."""
    simulated.settings.quota = 0
    simulated.settings.page_size = 1000
    simulated.settings.page_size = 1000
    row = next(
        row
        for row in simulated.tables()["kubernetesconfigurationresources"]
        if row["name"] == "cluster-config"
    )
    simulated.settings.max_bytes = int(len(json.dumps(row["properties"])) * 2.2)
    with managed() as client:
        names = [f"drone-{number}" for number in range(5)]
        assert found(client, simulated) == names
        first = simulated.queries
        assert found(client, simulated) == names
        assert simulated.queries - first < first / 2, "the size stays"
        simulated.settings.max_bytes = 100
        with pytest.raises(KalypsoError, match="refuses a single row of the Flux conf"):
            found(client, simulated)


def test_a_subscription_that_nobody_may_read(simulated: Azure, managed: Connect) -> None:
    simulated.put(cluster("hidden", subscription=OTHER_SUBSCRIPTION))
    scopes = (SUBSCRIPTION, OTHER_SUBSCRIPTION)
    with managed(scopes=scopes) as client:
        client.check_subscriptions()
        assert "hidden" in found(client, simulated)
        simulated.settings.unreadable = [OTHER_SUBSCRIPTION.upper()]
        assert "hidden" not in found(client, simulated)
        with pytest.raises(KalypsoError, match=f"subscription {OTHER_SUBSCRIPTION}"):
            client.check_subscriptions()


def test_a_job_signs_in_by_its_own_tokens(simulated: Azure, tls: Path) -> None:
    application = simulated.register(SUBJECT)
    with serving(simulated, tls) as url:
        for environment in ("dev", "stage"):
            with by_assertion(simulated, url, tls, application, environment) as client:
                if environment == "dev":
                    assert len(found(client, simulated)) == 5
                    continue
                with pytest.raises(KalypsoError, match="repo:acme/fleet:environment:stage"):
                    found(client, simulated)


def test_a_client_secret_signs_in(simulated: Azure, tls: Path) -> None:
    application = simulated.register(secret="hunter2")
    with serving(simulated, tls) as url:
        with by_secret(simulated, url, tls, application, "hunter2") as client:
            assert len(found(client, simulated)) == 5
        with (
            by_secret(simulated, url, tls, application, "wrong") as client,
            pytest.raises(KalypsoError, match="the client secret is wrong"),
        ):
            found(client, simulated)


@pytest.mark.parametrize("kind", ["expired", "revoked", "challenged"])
@pytest.mark.parametrize("way", ["assertion", "secret", "managed identity"])
def test_a_token_that_is_refused_is_fetched_again_once(
    simulated: Azure, tls: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: Any
) -> None:
    faults = simulated.settings.faults
    with serving(simulated, None if way == "managed identity" else tls) as url:
        if way == "assertion":
            client = by_assertion(simulated, url, tls, simulated.register(SUBJECT), "dev")
        elif way == "secret":
            application = simulated.register(secret="hunter2")
            client = by_secret(simulated, url, tls, application, "hunter2")
        else:
            client = signed_in(use_managed_identity(simulated, url, monkeypatch))
        with client:
            for skip in (0, 1, 4):  # the first page, a later one, and the next reading
                faults.append(QueryFault(kind=kind, skip=skip))
                assert len(found(client, simulated)) == 5
            assert len(found(client, simulated)) == 5
            assert faults == []
            faults.append(QueryFault(kind=kind, count=2))
            with pytest.raises(KalypsoError, match="the access token is not accepted") as raised:
                found(client, simulated)
            assert "check azure-cloud" in raised.value.problem.advice
            assert faults == []


def addresses(url: str, certificates: str, tls: Path) -> dict[str, str]:
    return {
        "KALYPSO_AZURE_RESOURCE_MANAGER": url,
        "AZURE_AUTHORITY_HOST": url,
        certificates: str(tls),
    }


def by_assertion(
    made: Azure, url: str, tls: Path, application: Application, environment: str
) -> ResourceGraph:
    job = made.job_environment(url, JobIdentity("acme/fleet", environment=environment))
    given = addresses(url, "SSL_CERT_FILE", tls) | job
    return signed_in(given, client_id=application.client_id, tenant_id=made.tenant)


def by_secret(
    made: Azure, url: str, tls: Path, application: Application, secret: str
) -> ResourceGraph:
    ids = {"clientId": application.client_id, "tenantId": made.tenant, "clientSecret": secret}
    return signed_in(addresses(url, "REQUESTS_CA_BUNDLE", tls), credentials=json.dumps(ids))
