"""Credentials of azure-identity, with errors that name the inputs to change.

The library takes long to import, so this module is imported only if it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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

from kalypso_actions.clients.resource_graph.clouds import Cloud
from kalypso_actions.clients.resource_graph.errors import (
    CHECK_NETWORK,
    UNTRUSTED_CERTIFICATE,
    login_refusal,
)
from kalypso_actions.clients.resource_graph.transport import transport_of
from kalypso_actions.errors import KalypsoError, UsageError


class SignIn:
    """A credential for Azure's clients that raises KalypsoError.

    `make` returns a new credential of Azure's library, which caches access tokens.
    """

    def __init__(self, make: Callable[[], SupportsTokenInfo], cloud: Cloud) -> None:
        self._make = make
        self._credential = make()
        self._cloud = cloud

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
        self._credential = self._make()

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


def by_assertion(
    client_id: str,
    tenant_id: str,
    assertion: Callable[[], str],
    cloud: Cloud,
    environment: Mapping[str, str],
) -> SignIn:
    """Sign in with a federated credential; each new access token calls `assertion`."""

    def make() -> SupportsTokenInfo:
        return ClientAssertionCredential(
            tenant_id,
            client_id,
            assertion,
            authority=cloud.authority,
            transport=transport_of(environment),
        )

    return SignIn(make, cloud)


def by_secret(
    client_id: str,
    tenant_id: str,
    client_secret: str,
    cloud: Cloud,
    environment: Mapping[str, str],
) -> SignIn:
    """Sign in with a client secret."""

    def make() -> SupportsTokenInfo:
        return ClientSecretCredential(
            tenant_id,
            client_id,
            client_secret,
            authority=cloud.authority,
            # The authority is known, so the public cloud need not confirm it.
            disable_instance_discovery=True,
            transport=transport_of(environment),
        )

    return SignIn(make, cloud)


def of_surroundings(cloud: Cloud, environment: Mapping[str, str]) -> SignIn:
    """Sign in with the machine's credential, such as a managed identity or the Azure CLI.

    The library reads the process's own environment. Raise UsageError if AZURE_TOKEN_CREDENTIALS
    there chooses an unknown credential.
    """

    def make() -> SupportsTokenInfo:
        transport = transport_of(environment)
        try:
            return DefaultAzureCredential(
                authority=cloud.authority, transport=transport, process_timeout=30
            )
        except ValueError as error:
            raise UsageError(str(error)) from error

    return SignIn(make, cloud)
