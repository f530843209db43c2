from __future__ import annotations

import pytest

from kalypso_actions.clients.resource_graph.scopes import Scopes
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
