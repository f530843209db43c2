"""Microsoft Entra's token endpoint: it exchanges an assertion or a secret for an access token."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from kalypso_sandbox.azure.identity import jwt
from kalypso_sandbox.github.endpoints import Answer

JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
AUDIENCE: Final = "api://AzureADTokenExchange"


class FederatedCredential(BaseModel):
    """A subject whose assertions an application accepts; all three fields must match exactly."""

    model_config = ConfigDict(extra="forbid")

    subject: str
    issuer: str
    audience: str = AUDIENCE


class Application(BaseModel):
    """A registered application, and the credentials that sign in as it."""

    model_config = ConfigDict(extra="forbid")

    client_id: str
    secrets: list[str] = Field(default_factory=list, repr=False)
    federated: list[FederatedCredential] = Field(default_factory=list)


class RefusedSignInError(Exception):
    """Entra's refusal: its AADSTS number, OAuth's error code, and the message."""

    def __init__(self, number: int, error: str, message: str, status: int) -> None:
        super().__init__(message)
        self.number = number
        self.error = error
        self.message = message
        self.status = status


def audience(
    form: Mapping[str, str],
    tenants: tuple[str, str],
    applications: Mapping[str, Application],
    now: datetime,
    key: bytes,
) -> str:
    """Check a sign-in, and return the resource of its access token.

    `tenants` are the requested and the existing tenant. Raises RefusedSignInError.
    """
    requested, existing = tenants
    client_id = form.get("client_id", "")
    if requested != existing:
        message = (
            f"Tenant '{requested}' not found. Check to make sure you have the correct tenant ID."
        )
        raise RefusedSignInError(90002, "invalid_request", message, 400)
    if form.get("grant_type") != "client_credentials":
        message = f"The given grant type '{form.get('grant_type')}' is not supported."
        raise RefusedSignInError(70003, "unsupported_grant_type", message, 400)
    application = applications.get(client_id)
    if application is None:
        raise RefusedSignInError(
            700016,
            "unauthorized_client",
            f"Application with identifier '{client_id}' was not found in the directory "
            f"'{existing}'. This can happen if the application has not been installed by the "
            "administrator of the tenant or consented to by any user in the tenant. You may have "
            "sent your authentication request to the wrong tenant.",
            400,
        )
    _authenticate(form, application, now, key)
    resource, default, rest = form.get("scope", "").partition("/.default")
    if not default or rest:
        message = (
            f"The provided value for scope {form.get('scope')} is not valid. Client credential "
            "flows must have a scope value with /.default suffixed to the resource identifier "
            "(application ID URI)."
        )
        raise RefusedSignInError(1002012, "invalid_scope", message, 400)
    return resource


def _authenticate(
    form: Mapping[str, str], application: Application, now: datetime, key: bytes
) -> None:
    """Check the application's assertion or secret. Raises RefusedSignInError."""
    if form.get("client_assertion_type") == JWT_BEARER:
        claims = jwt.read(form.get("client_assertion", ""), key)
        if claims is None or "sub" not in claims:  # an access token is not an assertion
            raise _invalid_client(50027, "JWT token is invalid or malformed.")
        _check_times(claims, now)
        _check_claims(claims, application)
        return
    given = form.get("client_secret", "").encode()
    if not given:
        missing = "The request body must contain: 'client_assertion' or 'client_secret'."
        raise _invalid_client(7000218, missing)
    if not any(hmac.compare_digest(given, secret.encode()) for secret in application.secrets):
        raise _invalid_client(
            7000215,
            "Invalid client secret provided. Ensure the secret being sent in the request is the "
            "client secret value, not the client secret ID, for a secret added to app "
            f"'{application.client_id}'.",
        )


def _check_times(claims: Mapping[str, Any], now: datetime) -> None:
    if claims["nbf"] <= now.timestamp() < claims["exp"]:
        return
    begin, end = (datetime.fromtimestamp(claims[name], UTC) for name in ("nbf", "exp"))
    raise _invalid_client(
        700024,
        "Client assertion is not within its valid time range. "
        f"Current time: {_precise(now)}, assertion valid from {_precise(begin)}, "
        f"expiry time of assertion {_precise(end)}.",
    )


def _check_claims(claims: Mapping[str, Any], application: Application) -> None:
    """Check that a federated credential matches; refuse with the first claim that does not."""
    if not application.federated:
        message = (
            f"The client '{application.client_id}' has no configured federated identity "
            "credentials."
        )
        raise _invalid_client(70025, message)
    matching = application.federated
    for number, name, claim in (
        (700211, "issuer", "iss"),
        (700213, "subject", "sub"),
        (700212, "audience", "aud"),
    ):
        candidates = matching
        matching = [
            credential for credential in candidates if getattr(credential, name) == claims[claim]
        ]
        if not matching:
            expected = [getattr(credential, name) for credential in candidates]
            raise _no_match(number, name, str(claims[claim]), expected)


def _no_match(number: int, name: str, given: str, expected: list[str]) -> RefusedSignInError:
    message = (
        f"No matching federated identity record found for presented assertion {name} '{given}'"
    )
    if name == "subject" and given.lower() in (credential.lower() for credential in expected):
        message += (
            ". The subject matches with case-insensitive comparison, but not with case-sensitive "
            "comparison"
        )
        number = 7002138
    return _invalid_client(
        number,
        f"{message}. Check your federated identity credential Subject, Audience and Issuer "
        "against the presented assertion.",
    )


def _invalid_client(number: int, message: str) -> RefusedSignInError:
    return RefusedSignInError(number, "invalid_client", message, 401)


def refused(error: RefusedSignInError, now: datetime, new_guid: Callable[[], str]) -> Answer:
    """Return Entra's JSON for a refusal."""
    timestamp, trace, correlation = f"{now:%Y-%m-%d %H:%M:%SZ}", new_guid(), new_guid()
    return Answer(
        error.status,
        {
            "error": error.error,
            "error_description": f"AADSTS{error.number}: {error.message} Trace ID: {trace} "
            f"Correlation ID: {correlation} Timestamp: {timestamp}",
            "error_codes": [error.number],
            "timestamp": timestamp,
            "trace_id": trace,
            "correlation_id": correlation,
            "error_uri": f"https://login.microsoftonline.com/error?code={error.number}",
        },
    )


def openid_configuration(url: str, tenant: str) -> Answer:
    """Return a tenant's OpenID configuration; `url` is the server's own."""
    return Answer(
        200,
        {
            "issuer": f"{url}/{tenant}/v2.0",
            "authorization_endpoint": f"{url}/{tenant}/oauth2/v2.0/authorize",
            "token_endpoint": f"{url}/{tenant}/oauth2/v2.0/token",
            "jwks_uri": f"{url}/{tenant}/discovery/v2.0/keys",
            "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"],
        },
    )


def discovery(url: str, host: str, tenant: str) -> Answer:
    """Return the instance discovery document: this server is the only authority."""
    alone = {"preferred_network": host, "preferred_cache": host, "aliases": [host]}
    endpoint = f"{url}/{tenant}/v2.0/.well-known/openid-configuration"
    return Answer(
        200,
        {"tenant_discovery_endpoint": endpoint, "api-version": "1.1", "metadata": [alone]},
    )


def _precise(moment: datetime) -> str:
    """Format a time with seven decimals, as .NET does."""
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}0Z"
