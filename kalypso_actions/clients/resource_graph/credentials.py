"""Choose the credential: a federated one, else azure-credentials, else the machine's."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kalypso_actions.clients.resource_graph.clouds import AUTHORITY_VARIABLE, CLOUDS, Cloud
from kalypso_actions.clients.resource_graph.oidc import PERMISSION, OidcIssuer
from kalypso_actions.errors import UsageError

if TYPE_CHECKING:
    from kalypso_actions.clients.resource_graph.authorization import RenewableCredential

log = logging.getLogger(__name__)

CLIENT: Final = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
TENANT: Final = re.compile(r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*")
FORM: Final = (
    "it is the JSON that `az ad sp create-for-rbac --json-auth` prints, with clientId, "
    "clientSecret and tenantId"
)


def azure_credential(
    *,
    client_id: str,
    tenant_id: str,
    credentials: str,
    cloud: Cloud,
    environment: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> RenewableCredential:
    """Return the credential for the inputs `azure-client-id`, `-tenant-id` and `-credentials`.

    A job with the permission `id-token: write` fetches a new OIDC token for each access token,
    because it may wait longer than a sign-in by azure/login lasts. Creating the credential sends no
    request. Raise UsageError if the inputs do not suffice.
    """
    # Importing Azure's library would cost every other command 0.2 s.
    from kalypso_actions.clients.resource_graph import identity  # noqa: PLC0415

    client_id, tenant_id = client_id.strip(), tenant_id.strip()
    if bool(client_id) != bool(tenant_id):
        given, missing = ("client", "tenant") if client_id else ("tenant", "client")
        raise UsageError(
            f"azure-{given}-id is given without azure-{missing}-id", advice="give both, or none"
        )
    issuer = OidcIssuer.of_environment(environment) if client_id else None
    if issuer:
        _check_ids(client_id, tenant_id, "azure-client-id", "azure-tenant-id")
        log.debug("signing in to Azure by GitHub's OIDC tokens")
        return identity.by_assertion(
            client_id,
            tenant_id,
            lambda: issuer.token(cloud.assertion_audience, sleep),
            cloud,
            environment,
        )
    if credentials.strip():
        log.debug("signing in to Azure by azure-credentials")
        secret = _secret(credentials, cloud)
        return identity.by_secret(
            secret.client_id, secret.tenant_id, secret.client_secret, cloud, environment
        )
    if client_id:
        raise UsageError(
            "azure-client-id is given, but GitHub gives this process no OIDC tokens",
            advice=f"{PERMISSION}; elsewhere leave azure-client-id and azure-tenant-id out, and "
            "sign in with the Azure CLI",
        )
    log.debug("signing in to Azure by DefaultAzureCredential")
    return identity.of_surroundings(cloud, environment)


NotEmpty = Annotated[str, Field(min_length=1)]


class _ClientSecret(BaseModel):
    """The fields of azure-credentials; the address serves only to compare it with the cloud's."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, hide_input_in_errors=True)

    client_id: NotEmpty
    client_secret: NotEmpty = Field(repr=False)
    tenant_id: NotEmpty
    active_directory_endpoint_url: str | None = None


def _secret(text: str, cloud: Cloud) -> _ClientSecret:
    """Parse azure-credentials. Raise UsageError, which quotes only the names of missing keys."""
    try:
        secret = _ClientSecret.model_validate_json(text)
    except ValidationError as error:
        keys = [str(fault["loc"][0]) for fault in error.errors(include_input=False) if fault["loc"]]
        faults = f"does not have {', '.join(keys)}" if keys else "is not a JSON object"
        # The cause holds the secret.
        raise UsageError(f"azure-credentials {faults}", advice=FORM) from None
    _check_ids(
        secret.client_id,
        secret.tenant_id,
        "clientId of azure-credentials",
        "tenantId of azure-credentials",
    )
    _check_authority(secret.active_directory_endpoint_url or "", cloud)
    return secret


def _check_ids(client_id: str, tenant_id: str, client_name: str, tenant_name: str) -> None:
    """Check ids, which become parts of a URL; an error omits the text, which may be a secret."""
    if not CLIENT.fullmatch(client_id):
        raise UsageError(f"{client_name} is not the id of an application (a GUID)")
    if not TENANT.fullmatch(tenant_id):
        raise UsageError(f"{tenant_name} is neither a tenant's id (a GUID) nor its domain")


def _check_authority(url: str, cloud: Cloud) -> None:
    """Refuse to send the secret of one cloud to another."""
    host = _host(url)
    if not host or host in _hosts(cloud):
        return
    for other in CLOUDS.values():
        if host in _hosts(other):
            advice = f"set azure-cloud to {other.name}"
            break
    else:
        advice = f"set {AUTHORITY_VARIABLE} to the sign-in address of the identity"
    raise UsageError(
        f"azure-credentials are for {host}, but azure-cloud signs in at {_host(cloud.authority)}",
        advice=advice,
    )


def _hosts(cloud: Cloud) -> set[str]:
    return {_host(url) for url in (cloud.authority, *cloud.former_authorities)}


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return url
