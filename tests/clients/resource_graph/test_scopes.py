from __future__ import annotations

import pytest
from azure.core import AzureClouds
from azure.identity import AzureAuthorityHosts
from azure.mgmt.core.tools import get_arm_endpoints

from kalypso_actions.clients.resource_graph.scopes import CloudName, Scopes, cloud_of
from kalypso_actions.errors import UsageError
from tests.clients.resource_graph.azure import OTHER_SUBSCRIPTION, SUBSCRIPTION

GROUP_ID = "/providers/Microsoft.Management/managementGroups/"


@pytest.mark.parametrize(
    ("texts", "subscriptions", "groups"),
    [
        ([], (), ()),
        (["", " , ,"], (), ()),
        ([SUBSCRIPTION], (SUBSCRIPTION,), ()),
        ([f" {SUBSCRIPTION} ,{OTHER_SUBSCRIPTION}\n"], (SUBSCRIPTION, OTHER_SUBSCRIPTION), ()),
        ([f"/subscriptions/{SUBSCRIPTION}"], (SUBSCRIPTION,), ()),
        ([f"/Subscriptions/{SUBSCRIPTION.upper()}/", SUBSCRIPTION], (SUBSCRIPTION,), ()),
        (["prod"], (), ("prod",)),
        (["prod, Test.(eu)_1-a", "PROD"], (), ("prod", "Test.(eu)_1-a")),
        ([GROUP_ID + "prod"], (), ("prod",)),
        ([GROUP_ID.lower() + SUBSCRIPTION + "/"], (), (SUBSCRIPTION,)),
    ],
)
def test_subscriptions_and_management_groups(
    texts: list[str], subscriptions: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    assert Scopes.parse(texts) == Scopes(subscriptions, groups)


@pytest.mark.parametrize(
    "text",
    [
        "Production subscription",
        "/subscriptions/prod",
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet",
        GROUP_ID,
        "prod;test",
        "g" * 91,
    ],
)
def test_a_text_that_is_not_a_scope_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a scope") as raised:
        Scopes.parse([SUBSCRIPTION, text])
    assert "subscriptions by their ids, or management groups" in raised.value.problem.advice


def test_both_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="subscriptions and management groups"):
        Scopes.parse([SUBSCRIPTION, "prod"])


def test_more_subscriptions_than_a_request_can_name_are_refused() -> None:
    many = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(1001)]
    assert len(Scopes.parse(many[:1000]).subscriptions) == 1000
    with pytest.raises(UsageError, match="1001 subscriptions") as raised:
        Scopes.parse(many)
    assert "management group" in raised.value.problem.advice


@pytest.mark.parametrize(
    ("scopes", "description"),
    [
        (Scopes(), "everything that the identity may read"),
        (Scopes(("a",)), "subscription a"),
        (Scopes(management_groups=("a", "b")), "management groups a, b"),
        (Scopes(("a", "b", "c", "d", "e")), "subscriptions a, b, c and 2 more"),
    ],
)
def test_scopes_for_people(scopes: Scopes, description: str) -> None:
    assert str(scopes) == description


@pytest.mark.parametrize(
    ("name", "authority", "azure_cloud"),
    [
        ("public", AzureAuthorityHosts.AZURE_PUBLIC_CLOUD, AzureClouds.AZURE_PUBLIC_CLOUD),
        ("usgov", AzureAuthorityHosts.AZURE_GOVERNMENT, AzureClouds.AZURE_US_GOVERNMENT),
        ("china", AzureAuthorityHosts.AZURE_CHINA, AzureClouds.AZURE_CHINA_CLOUD),
    ],
)
def test_addresses_are_those_of_azures_libraries(
    name: CloudName, authority: str, azure_cloud: AzureClouds
) -> None:
    cloud = cloud_of(name, {"AZURE_AUTHORITY_HOST": "", "KALYPSO_AZURE_RESOURCE_MANAGER": " "})
    endpoints = get_arm_endpoints(azure_cloud)
    assert cloud.authority == f"https://{authority}"
    assert cloud.resource_manager + "/" == endpoints["resource_manager"]
    assert [cloud.scope] == endpoints["credential_scopes"]


@pytest.mark.parametrize(
    ("given", "authority"),
    [
        ("login.acme.example", "https://login.acme.example"),
        ("https://login.acme.example/", "https://login.acme.example"),
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
    ],
)
def test_another_place_to_sign_in(given: str, authority: str) -> None:
    cloud = cloud_of("public", {"AZURE_AUTHORITY_HOST": given})
    assert (cloud.authority, cloud.former_authorities) == (authority, ())


def test_the_clouds_own_place_to_sign_in_may_be_named() -> None:
    named = {"AZURE_AUTHORITY_HOST": "https://login.chinacloudapi.cn/"}
    assert cloud_of("china", named) == cloud_of("china", {})


@pytest.mark.parametrize(
    ("given", "endpoint"),
    [
        ("https://management.acme.example/", "https://management.acme.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:8080/", "http://localhost:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_another_resource_manager(given: str, endpoint: str) -> None:
    cloud = cloud_of("usgov", {"KALYPSO_AZURE_RESOURCE_MANAGER": given})
    assert cloud.resource_manager == endpoint
    assert cloud.scope == cloud_of("usgov", {}).scope


@pytest.mark.parametrize(
    ("variable", "url", "message"),
    [
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "http://management.acme.example", "https://"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "http://127.0.0.1.acme.example", "https://"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "ftp://127.0.0.1", "https://"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "127.0.0.1:8080", "not the URL"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "https://user:secret@host", "not the URL"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "https://host/?a=b", "not the URL"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "https://host:99999", "not the URL"),
        ("KALYPSO_AZURE_RESOURCE_MANAGER", "https://", "not the URL"),
        ("AZURE_AUTHORITY_HOST", "http://127.0.0.1:8080", "https://"),
        ("AZURE_AUTHORITY_HOST", "https://[", "not the URL"),
    ],
)
def test_addresses_that_tokens_are_not_sent_to(variable: str, url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        cloud_of("public", {variable: url})
    assert variable in str(raised.value)
    assert "secret" not in str(raised.value)
