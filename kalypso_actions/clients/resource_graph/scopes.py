"""What is asked: one of Azure's clouds, and in it subscriptions or management groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from kalypso_actions.errors import UsageError
from kalypso_actions.model.urls import is_loopback

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


CloudName = Literal["public", "usgov", "china"]

AUTHORITY_VARIABLE: Final = "AZURE_AUTHORITY_HOST"
"""Azure's own variable for the sign-in address."""

ENDPOINT_VARIABLE: Final = "KALYPSO_AZURE_RESOURCE_MANAGER"
"""Resource Manager of a private cloud, or of the sandbox."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """The addresses of one cloud.

    authority           the sign-in address (Microsoft Entra ID)
    former_authorities  its former names, which old credentials still hold
    resource_manager    the address of Resource Graph
    scope               the scope of access tokens
    assertion_audience  the audience of OIDC tokens that are exchanged for access tokens
    """

    name: CloudName
    authority: str
    former_authorities: tuple[str, ...]
    resource_manager: str
    scope: str
    assertion_audience: str


CLOUDS: Final[Mapping[str, Cloud]] = {
    cloud.name: cloud
    for cloud in (
        Cloud(
            name="public",
            authority="https://login.microsoftonline.com",
            former_authorities=("https://login.windows.net", "https://login.microsoft.com"),
            resource_manager="https://management.azure.com",
            scope="https://management.azure.com/.default",
            assertion_audience="api://AzureADTokenExchange",
        ),
        Cloud(
            name="usgov",
            authority="https://login.microsoftonline.us",
            former_authorities=("https://login.usgovcloudapi.net",),
            resource_manager="https://management.usgovcloudapi.net",
            scope="https://management.core.usgovcloudapi.net/.default",
            assertion_audience="api://AzureADTokenExchangeUSGov",
        ),
        Cloud(
            name="china",
            authority="https://login.chinacloudapi.cn",
            former_authorities=("https://login.partner.microsoftonline.cn",),
            resource_manager="https://management.chinacloudapi.cn",
            scope="https://management.chinacloudapi.cn/.default",
            assertion_audience="api://AzureADTokenExchangeChina",
        ),
    )
}


def cloud_of(name: CloudName, environment: Mapping[str, str]) -> Cloud:
    """Return the cloud of this name, with the addresses that the environment replaces.

    Raise UsageError if such an address is invalid, or would send tokens unprotected.
    """
    cloud = CLOUDS[name]
    authority = environment.get(AUTHORITY_VARIABLE, "").strip()
    if authority:
        url = authority if "://" in authority else f"https://{authority}"
        authority = _address(AUTHORITY_VARIABLE, url, loopback=False)
        own = {cloud.authority, *cloud.former_authorities}
        cloud = replace(
            cloud,
            authority=authority,
            former_authorities=cloud.former_authorities if authority in own else (),
        )
    endpoint = environment.get(ENDPOINT_VARIABLE, "").strip()
    if endpoint:
        url = _address(ENDPOINT_VARIABLE, endpoint, loopback=True)
        cloud = replace(cloud, resource_manager=url)
    return cloud


def _address(variable: str, url: str, *, loopback: bool) -> str:
    """Return the URL without a final `/`; `loopback` allows http to this machine."""
    try:
        parts = urlsplit(url)
        sound = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(f"{variable} is not the URL of a server", advice="https://host[:port]")
    if parts.scheme == "https" or (loopback and parts.scheme == "http" and is_loopback(url)):
        return url.rstrip("/")
    only = "https (or http://127.0.0.1, for trials)" if loopback else "https"
    raise UsageError(f"{variable} must begin with https://", advice=f"tokens are sent by {only}")
