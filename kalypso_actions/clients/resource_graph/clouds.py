"""Azure's clouds: the addresses of sign-in and Resource Manager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from kalypso_actions.errors import UsageError
from kalypso_actions.model.urls import is_loopback

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
