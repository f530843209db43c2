"""The client and the simulated Azure, over HTTP and TLS: nothing between them is replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.azure import Azure, JobIdentity, QueryFault
from tests.clients.resource_graph.azure import OTHER_SUBSCRIPTION, SUBSCRIPTION, Waits
from tests.sandbox.azure.azure_server import certificate, serving
from tests.sandbox.azure.builders import Clock, azure, cluster, push

SUBJECT = "repo:acme/fleet:environment:dev"
COMMIT = "1" * 40


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


def found(client: ResourceGraph, made: Azure) -> list[str]:
    url = f"{made.store.server_url}/acme/fleet.git"
    return [report.cluster.split("/")[8] for report in client.cluster_reports(url, "dev")]


def test_a_managed_identity_reads_all_pages_through_throttling(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated.settings.faults += [
        QueryFault(kind="throttled", skip=1),
        QueryFault(kind="throttled", skip=2, retry_after=2),
    ]
    waits = Waits()
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        with signed_in(environment, waits) as client:
            assert found(client, simulated) == [f"drone-{number}" for number in range(5)]
    assert sorted(waits.slept) == [2.0, 5.0]


def test_pages_are_halved_until_an_answer_fits(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        with signed_in(environment) as client:
            names = [f"drone-{number}" for number in range(5)]
            assert found(client, simulated) == names
            first = simulated.queries
            assert found(client, simulated) == names
            assert simulated.queries - first < first / 2, "the size stays"
            simulated.settings.max_bytes = 100
            with pytest.raises(KalypsoError, match="refuses a single row of the Flux conf"):
                found(client, simulated)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("truncated", "cut its answer short"),
        ("denied", "the identity may not read the scope"),
    ],
)
def test_unusable_answers(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch, kind: Any, message: str
) -> None:
    simulated.settings.faults.append(QueryFault(kind=kind))
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        with signed_in(environment) as client, pytest.raises(KalypsoError, match=message):
            client.cluster_reports("https://github.com/acme/fleet", "dev")


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        (OTHER_SUBSCRIPTION, "the identity sees nothing in the scope"),
        ("unknown-group", "the identity may not read the scope"),
    ],
)
def test_missing_scopes(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch, scope: str, message: str
) -> None:
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        with (
            signed_in(environment, scopes=(scope,)) as client,
            pytest.raises(KalypsoError, match=message),
        ):
            client.cluster_reports("https://github.com/acme/fleet", "dev")


def test_a_subscription_that_nobody_may_read(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated.put(cluster("hidden", subscription=OTHER_SUBSCRIPTION))
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        scopes = (SUBSCRIPTION, OTHER_SUBSCRIPTION)
        with signed_in(environment, scopes=scopes) as client:
            client.check_subscriptions()
            assert "hidden" in found(client, simulated)
            simulated.settings.unreadable = [OTHER_SUBSCRIPTION.upper()]
            assert "hidden" not in found(client, simulated)
            with pytest.raises(KalypsoError, match=f"subscription {OTHER_SUBSCRIPTION}"):
                client.check_subscriptions()


def test_a_tenant_with_too_many_subscriptions(
    simulated: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated.settings.subscriptions = [OTHER_SUBSCRIPTION]
    simulated.settings.subscription_limit = 1
    with serving(simulated) as url:
        environment = use_managed_identity(simulated, url, monkeypatch)
        with signed_in(environment) as client, pytest.raises(KalypsoError, match="more subscr"):
            client.cluster_reports("https://github.com/acme/fleet", "dev")


def test_a_job_signs_in_by_its_own_tokens(simulated: Azure, tls: Path) -> None:
    application = simulated.register(SUBJECT)
    ids: dict[str, Any] = {"client_id": application.client_id, "tenant_id": simulated.tenant}
    with serving(simulated, tls) as url:
        common = {
            "KALYPSO_AZURE_RESOURCE_MANAGER": url,
            "AZURE_AUTHORITY_HOST": url,
            "SSL_CERT_FILE": str(tls),
        }
        job = simulated.job_environment(url, JobIdentity("acme/fleet", environment="dev"))
        with signed_in(common | job, **ids) as client:
            assert len(found(client, simulated)) == 5
        other = simulated.job_environment(url, JobIdentity("acme/fleet", environment="stage"))
        with (
            signed_in(common | other, **ids) as client,
            pytest.raises(KalypsoError, match="repo:acme/fleet:environment:stage"),
        ):
            found(client, simulated)


def test_a_client_secret_signs_in(simulated: Azure, tls: Path) -> None:
    application = simulated.register(secret="hunter2")
    with serving(simulated, tls) as url:
        environment = {
            "KALYPSO_AZURE_RESOURCE_MANAGER": url,
            "AZURE_AUTHORITY_HOST": url,
            "REQUESTS_CA_BUNDLE": str(tls),
        }
        for secret, message in (("hunter2", ""), ("wrong", "the client secret is wrong")):
            given = (
                f'{{"clientId": "{application.client_id}", "clientSecret": "{secret}", '
                f'"tenantId": "{simulated.tenant}"}}'
            )
            with signed_in(environment, credentials=given) as client:
                if not message:
                    assert len(found(client, simulated)) == 5
                    continue
                with pytest.raises(KalypsoError, match=message):
                    found(client, simulated)


@pytest.mark.parametrize("kind", ["expired", "revoked", "challenged"])
@pytest.mark.parametrize("way", ["assertion", "secret", "managed identity"])
def test_a_token_that_is_refused_is_fetched_again_once(
    simulated: Azure, tls: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: Any
) -> None:
    faults = simulated.settings.faults
    with ExitStack() as stack:
        client = stack.enter_context(CLIENTS[way](stack, simulated, tls, monkeypatch))
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


def by_assertion(stack: ExitStack, made: Azure, tls: Path, _: pytest.MonkeyPatch) -> ResourceGraph:
    application = made.register(SUBJECT)
    url = stack.enter_context(serving(made, tls))
    environment = {
        "KALYPSO_AZURE_RESOURCE_MANAGER": url,
        "AZURE_AUTHORITY_HOST": url,
        "SSL_CERT_FILE": str(tls),
        **made.job_environment(url, JobIdentity("acme/fleet", environment="dev")),
    }
    return signed_in(environment, client_id=application.client_id, tenant_id=made.tenant)


def by_secret(stack: ExitStack, made: Azure, tls: Path, _: pytest.MonkeyPatch) -> ResourceGraph:
    application = made.register(secret="hunter2")
    url = stack.enter_context(serving(made, tls))
    environment = {
        "KALYPSO_AZURE_RESOURCE_MANAGER": url,
        "AZURE_AUTHORITY_HOST": url,
        "SSL_CERT_FILE": str(tls),
    }
    ids = {"clientId": application.client_id, "tenantId": made.tenant}
    return signed_in(environment, credentials=json.dumps({**ids, "clientSecret": "hunter2"}))


def by_managed_identity(
    stack: ExitStack, made: Azure, _: Path, monkeypatch: pytest.MonkeyPatch
) -> ResourceGraph:
    url = stack.enter_context(serving(made))
    return signed_in(use_managed_identity(made, url, monkeypatch))


CLIENTS = {
    "assertion": by_assertion,
    "secret": by_secret,
    "managed identity": by_managed_identity,
}
