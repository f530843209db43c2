"""The queried part of a tenant: subscriptions, or management groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import UsageError

MAX_SUBSCRIPTIONS: Final = 1000
"""The most subscriptions that a request to Resource Graph can name."""

GUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
GROUP: Final = re.compile(r"[A-Za-z0-9_().-]{1,90}")
SUBSCRIPTION_ID: Final = re.compile(r"/subscriptions/([^/]+)/?", re.IGNORECASE)
GROUP_ID: Final = re.compile(
    r"/providers/Microsoft\.Management/managementGroups/([^/]+)/?", re.IGNORECASE
)

FORMS: Final = (
    "name subscriptions by their ids, or management groups by their names: "
    "00000000-0000-0000-0000-000000000000, my-group, "
    "/providers/Microsoft.Management/managementGroups/NAME"
)


@dataclass(frozen=True, slots=True)
class Scopes:
    """Subscriptions or management groups; if both are empty, all that the identity may read.

    `az graph query` without a scope means the same.
    """

    subscriptions: tuple[str, ...] = ()
    management_groups: tuple[str, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Scopes:
        """Parse scopes as people write them; commas separate several in one text.

        A GUID is a subscription, any other name is a management group. A group whose name is a
        GUID, such as the root group, needs its whole resource id. Raise UsageError.
        """
        subscriptions: list[str] = []
        groups: list[str] = []
        for scope in (part.strip() for text in texts for part in text.split(",")):
            if scope:
                _sort_in(scope, subscriptions, groups)
        if subscriptions and groups:
            raise UsageError(
                "azure-scopes names subscriptions and management groups",
                advice="name the one or the other; a management group includes all subscriptions "
                "below it",
            )
        if len(subscriptions) > MAX_SUBSCRIPTIONS:
            raise UsageError(
                f"azure-scopes names {len(subscriptions)} subscriptions, Resource Graph takes "
                f"{MAX_SUBSCRIPTIONS}",
                advice="name a management group above them",
            )
        return cls(_once(subscriptions), _once(groups))

    def __str__(self) -> str:
        """Return a short text for people."""
        if self.subscriptions:
            return _text("subscription", self.subscriptions)
        if self.management_groups:
            return _text("management group", self.management_groups)
        return "everything that the identity may read"


def _sort_in(scope: str, subscriptions: list[str], groups: list[str]) -> None:
    subscription, group = SUBSCRIPTION_ID.fullmatch(scope), GROUP_ID.fullmatch(scope)
    name = subscription[1] if subscription else group[1] if group else scope
    is_guid = GUID.fullmatch(name) is not None
    if is_guid and not group:
        subscriptions.append(name.lower())
    elif GROUP.fullmatch(name) and not subscription:
        groups.append(name)
    else:
        raise UsageError(f"azure-scopes: {scope!r} is not a scope", advice=FORMS)


def _once(names: Sequence[str]) -> tuple[str, ...]:
    """Return each name once; names in Azure are case-insensitive."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.lower(), name)
    return tuple(first.values())


def _text(noun: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    plural = "s" if len(names) > 1 else ""
    return f"{noun}{plural} {', '.join(names[:3])}{more}"
