"""Sign in to Azure: by a federated credential, else azure-credentials, else the machine's."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, Self
from urllib.parse import quote, urlsplit, urlunsplit

import requests
from azure.core.credentials import (
    AccessToken,
    AccessTokenInfo,
    SupportsTokenInfo,
    TokenRequestOptions,
)
from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.identity import (
    ClientAssertionCredential,
    ClientSecretCredential,
    DefaultAzureCredential,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.clients.resource_graph.errors import (
    CHECK_NETWORK,
    UNTRUSTED_CERTIFICATE,
    login_refusal,
)
from kalypso_actions.clients.resource_graph.scopes import AUTHORITY_VARIABLE, CLOUDS, Cloud
from kalypso_actions.clients.resource_graph.service import transport_of
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.urls import is_loopback

log = logging.getLogger(__name__)

URL_VARIABLE: Final = "ACTIONS_ID_TOKEN_REQUEST_URL"
TOKEN_VARIABLE: Final = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - a variable's name
PERMISSION: Final = "give the job `permissions: id-token: write`"
DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each further attempt."""

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
) -> SignIn:
    """Return the credential for the inputs `azure-client-id`, `-tenant-id` and `-credentials`.

    A job with the permission `id-token: write` fetches a new OIDC token for each access token,
    because it may wait longer than a sign-in by azure/login lasts. Creating the credential sends no
    request. Raise UsageError if the inputs do not suffice.
    """
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
        return SignIn(
            partial(
                ClientAssertionCredential,
                tenant_id,
                client_id,
                lambda: issuer.token(cloud.assertion_audience, sleep),
            ),
            cloud,
            environment,
        )
    if credentials.strip():
        log.debug("signing in to Azure by azure-credentials")
        secret = _secret(credentials, cloud)
        make = partial(
            ClientSecretCredential,
            secret.tenant_id,
            secret.client_id,
            secret.client_secret,
            # The authority is known, so the public cloud need not confirm it.
            disable_instance_discovery=True,
        )
        return SignIn(make, cloud, environment)
    if client_id:
        raise UsageError(
            "azure-client-id is given, but GitHub gives this process no OIDC tokens",
            advice=f"{PERMISSION}; elsewhere leave azure-client-id and azure-tenant-id out, and "
            "sign in with the Azure CLI",
        )
    log.debug("signing in to Azure by DefaultAzureCredential")
    # The library reads the process's own environment.
    return SignIn(partial(DefaultAzureCredential, process_timeout=30), cloud, environment)


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


class SignIn:
    """A credential for Azure's clients that raises KalypsoError.

    `make` returns a credential of Azure's library, which caches access tokens, for an authority and
    a transport. Raise UsageError if AZURE_TOKEN_CREDENTIALS chooses an unknown credential.
    """

    def __init__(
        self, make: Callable[..., SupportsTokenInfo], cloud: Cloud, environment: Mapping[str, str]
    ) -> None:
        self._make = make
        self._cloud = cloud
        self._environment = environment
        self._credential = self._new()

    def _new(self) -> SupportsTokenInfo:
        transport = transport_of(self._environment)
        try:
            return self._make(authority=self._cloud.authority, transport=transport)
        except ValueError as error:
            raise UsageError(str(error)) from error

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        """Return an access token. Raise KalypsoError."""
        info = self.get_token_info(*scopes)
        return AccessToken(info.token, info.expires_on)

    def get_token_info(
        self, *scopes: str, options: TokenRequestOptions | None = None
    ) -> AccessTokenInfo:
        """Return an access token. Raise KalypsoError."""
        try:
            return self._credential.get_token_info(*scopes, options=options)
        except AzureError as error:
            raise self._refusal(error) from error

    def forget_tokens(self) -> None:
        """Drop cached access tokens by making a new credential."""
        self.close()
        self._credential = self._new()

    def close(self) -> None:
        """Close the connections."""
        self._credential.__exit__(None, None, None)

    def _refusal(self, error: AzureError) -> KalypsoError:
        # The library for client secrets wraps unknown errors.
        cause = error.__cause__ if isinstance(error.__cause__, AzureError) else error
        if isinstance(cause, ClientAuthenticationError):
            return login_refusal(error.message, self._cloud)
        reason = cause.inner_exception or cause
        untrusted = isinstance(reason, requests.exceptions.SSLError)
        return KalypsoError(
            f"{self._cloud.authority}, the sign-in address of Azure, "
            + ("has no trusted certificate" if untrusted else "cannot be reached")
            + f" ({type(reason).__name__})",
            advice=UNTRUSTED_CERTIFICATE if untrusted else CHECK_NETWORK,
        )


class _MayPassError(Exception):
    """A fault after which the same request may succeed."""


@dataclass(frozen=True, slots=True)
class OidcIssuer:
    """The issuer of a job's OIDC tokens, and the token for requests to it."""

    url: str
    request_token: str = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Self | None:
        """Return the job's issuer; None outside a job, or without the permission.

        Raise KalypsoError if the address would send the request's token unprotected.
        """
        url = environment.get(URL_VARIABLE, "")
        token = environment.get(TOKEN_VARIABLE, "")
        if not (url and token):
            return None
        scheme = urlsplit(url).scheme
        if scheme != "https" and not (scheme == "http" and is_loopback(url)):
            raise KalypsoError(f"{URL_VARIABLE} does not begin with https://")
        return cls(url, token, environment)

    def token(self, audience: str, sleep: Callable[[float], None] = time.sleep) -> str:
        """Return a new token for an audience; it expires after minutes.

        Raise KalypsoError; after a temporary fault, only if several attempts fail.
        """
        delays = iter(DELAYS)
        while True:
            try:
                return self._ask(audience)
            except _MayPassError as fault:
                delay = next(delays, None)
                message = f"GitHub gave the job no OIDC token: {fault}"
                if delay is None:
                    advice = "see whether GitHub has an incident, and run this again"
                    raise KalypsoError(message, advice=advice) from fault
                log.debug("%s; again in %.0f s", message, delay)
                sleep(delay)

    def _ask(self, audience: str) -> str:
        started = time.monotonic()
        with Session(self.environment) as session:
            # A redirect could send the request's token to another host.
            answer = self._send(session, self._address(audience))
        status = answer.status_code
        log.debug("GET an OIDC token  %s  %.2f s", status, time.monotonic() - started)
        if status == 429 or status >= 500:
            raise _MayPassError(f"status {status}")
        if status != 200:
            message = f"GitHub refused the job an OIDC token (status {status})"
            raise KalypsoError(message, advice=PERMISSION)
        try:
            value = answer.json()["value"]
        except (ValueError, KeyError, TypeError):  # the text may hold a part of the token
            raise _MayPassError("its answer is cut short or in no known form") from None
        return str(value)

    def _send(self, session: Session, url: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.request_token}", "Accept": "application/json"}
        try:
            return session.get(url, headers=headers, timeout=TIMEOUT, allow_redirects=False)
        except requests.exceptions.SSLError as error:
            message = "the certificate of GitHub's OIDC server is not trusted"
            raise KalypsoError(message, advice=UNTRUSTED_CERTIFICATE) from error
        except requests.RequestException as error:
            raise _MayPassError(f"it cannot be reached ({type(error).__name__})") from error

    def _address(self, audience: str) -> str:
        parts = urlsplit(self.url)
        query = f"{parts.query}&" if parts.query else ""
        return urlunsplit(parts._replace(query=f"{query}audience={quote(audience, safe='')}"))
