"""Credentials of azure-identity, whose failures are told in the words of who set them up.

The library takes long to import, so this module is imported where it is used.
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
from kalypso_actions.clients.resource_graph.refusals import (
    CHECK_NETWORK,
    UNTRUSTED_CERTIFICATE,
    login_refusal,
)
from kalypso_actions.clients.resource_graph.transport import transport_of
from kalypso_actions.errors import KalypsoError, UsageError


class SignIn:
    """A credential as Azure's clients take them, with our errors.

    `make` returns a new credential of Azure's library, which caches access tokens.
    """

    def __init__(self, make: Callable[[], SupportsTokenInfo], cloud: Cloud) -> None:
        self._make = make
        self._credential = make()
        self._cloud = cloud

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        """An access token; raises KalypsoError."""
        info = self.get_token_info(*scopes)
        return AccessToken(info.token, info.expires_on)

    def get_token_info(
        self, *scopes: str, options: TokenRequestOptions | None = None
    ) -> AccessTokenInfo:
        """An access token; raises KalypsoError."""
        try:
            return self._credential.get_token_info(*scopes, options=options)
        except AzureError as error:
            raise self._refusal(error) from error

    def forget_tokens(self) -> None:
        """Fetch the next access token anew: a new credential has nothing in its caches."""
        self.close()
        self._credential = self._make()

    def close(self) -> None:
        """Close the connections."""
        self._credential.__exit__(None, None, None)

    def _refusal(self, error: AzureError) -> KalypsoError:
        # The library for client secrets wraps what it does not know.
        cause = error.__cause__ if isinstance(error.__cause__, AzureError) else error
        if isinstance(cause, ClientAuthenticationError):
            return login_refusal(error.message, self._cloud)
        reason = cause.inner_exception or cause
        untrusted = isinstance(reason, requests.exceptions.SSLError)
        return KalypsoError(
            f"{self._cloud.authority}, where one signs in to Azure, "
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
    """By a federated credential; `assertion` is called for each new access token."""

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
    """By a client secret."""

    def make() -> SupportsTokenInfo:
        return ClientSecretCredential(
            tenant_id,
            client_id,
            client_secret,
            authority=cloud.authority,
            # The public cloud is not asked about another one's authority, which we know.
            disable_instance_discovery=True,
            transport=transport_of(environment),
        )

    return SignIn(make, cloud)


def of_surroundings(cloud: Cloud, environment: Mapping[str, str]) -> SignIn:
    """By what the machine offers: variables, a managed identity, the Azure CLI, and more.

    The library looks for that in the process's own environment. Raises UsageError where
    AZURE_TOKEN_CREDENTIALS there chooses what does not exist.
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
