"""Authentication of requests to Azure: GitHub's OIDC, Microsoft Entra, managed identities, tokens.

A job of GitHub gets an assertion of its identity; Entra exchanges an assertion or a secret for an
access token; the endpoint of a managed identity issues one on Azure's own machines. The server
signs all of them with one key, because only the server checks them.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from kalypso_sandbox.azure.clusters import UnknownNameError
from kalypso_sandbox.json_http import Answer, read_signed, sign
from kalypso_sandbox.store import Repository, Store

PUBLIC_ISSUER: Final = "https://token.actions.githubusercontent.com"
JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
AUDIENCE: Final = "api://AzureADTokenExchange"
IDENTITY_API_VERSION: Final = "2019-08-01"


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """A job of a repository's workflow, with its request token.

    With `immutable`, the subject contains the ids of owner and repository, as on github.com for
    repositories created or renamed since July 2026.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    repository: str
    environment: str = ""
    ref: str = "refs/heads/main"
    immutable: bool = False
    token: str = field(default="", repr=False)


def issuer(store: Store) -> str:
    """Return the issuer of assertions; each GitHub Enterprise Server has its own."""
    enterprise = store.flavour == "ghes"
    return f"{store.server_url}/_services/token" if enterprise else PUBLIC_ISSUER


def subject(store: Store, job: JobIdentity) -> str:
    """Return the subject of a job. Raises UnknownNameError for an unknown repository."""
    repository = _repository_of(store, job)
    name = repository.full_name
    if job.immutable and store.flavour == "github.com":
        owner = store.account(repository.owner, "Organization")
        name = f"{repository.owner}@{owner.id}/{repository.name}@{repository.id}"
    role = f"environment:{job.environment}" if job.environment else f"ref:{job.ref}"
    return f"repo:{name}:{role}"


def assertion(
    store: Store, job: JobIdentity, audience: str, lifetime: timedelta, key: bytes
) -> dict[str, Any]:
    """Return the endpoint's answer. The default audience is the owner's page."""
    repository = _repository_of(store, job)
    now = store.now
    claims = {
        "iss": issuer(store),
        "aud": audience or f"{store.server_url}/{repository.owner}",
        "sub": subject(store, job),
        "repository": repository.full_name,
        "repository_owner": repository.owner,
        "ref": job.ref,
        **({"environment": job.environment} if job.environment else {}),
        # An assertion is valid five minutes early, for clock skew.
        "nbf": int((now - timedelta(minutes=5)).timestamp()),
        "iat": int(now.timestamp()),
        "exp": int((now + lifetime).timestamp()),
    }
    value = sign(claims, key)
    return {"count": len(value), "value": value}


def _repository_of(store: Store, job: JobIdentity) -> Repository:
    repository = store.repository(job.repository)
    if repository is None:
        raise UnknownNameError(f"there is no repository {job.repository!r}")
    return repository


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


def resource(
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
    named, default, rest = form.get("scope", "").partition("/.default")
    if not default or rest:
        message = (
            f"The provided value for scope {form.get('scope')} is not valid. Client credential "
            "flows must have a scope value with /.default suffixed to the resource identifier "
            "(application ID URI)."
        )
        raise RefusedSignInError(1002012, "invalid_scope", message, 400)
    return named


def _authenticate(
    form: Mapping[str, str], application: Application, now: datetime, key: bytes
) -> None:
    """Check the application's assertion or secret. Raises RefusedSignInError."""
    if form.get("client_assertion_type") == JWT_BEARER:
        claims = read_signed(form.get("client_assertion", ""), key)
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


def refused_sign_in(
    error: RefusedSignInError, now: datetime, new_guid: Callable[[], str]
) -> Answer:
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


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """The reason why Azure Resource Manager refuses a token. The next token must have `claims`."""

    code: str
    message: str
    claims: str = ""


def issue(
    principal: str,
    tenant: str,
    audience: str,
    now: datetime,
    lifetime: timedelta,
    key: bytes,
    *,
    token_id: str,
) -> str:
    """Return an access token for the client id `principal`.

    `token_id` distinguishes tokens of the same second.
    """
    claims = {
        "aud": audience,
        "iss": f"https://sts.windows.net/{tenant}/",
        "tid": tenant,
        "appid": principal,
        "iat": int(now.timestamp()),
        "nbf": int(now.timestamp()),
        "exp": int((now + lifetime).timestamp()),
        "uti": token_id,
    }
    return sign(claims, key)


def principal(
    authorization: str, audiences: Collection[str], now: datetime, key: bytes
) -> str | RefusedToken:
    """Return the principal of an Authorization header, or the refusal."""
    kind, _, token = authorization.partition(" ")
    if kind.lower() != "bearer":
        missing = "Authentication failed. The 'Authorization' header is missing."
        return RefusedToken("AuthenticationFailed", missing)
    claims = read_signed(token, key)
    if claims is None or "appid" not in claims:  # a job's assertion is not an access token
        return RefusedToken("InvalidAuthenticationToken", "The access token is invalid.")
    if claims["exp"] <= now.timestamp():
        return expired(datetime.fromtimestamp(claims["exp"], now.tzinfo), now)
    if claims["aud"].rstrip("/") not in audiences:
        wrong = (
            "The access token has been obtained for wrong audience or resource "
            f"'{claims['aud']}'. It should exactly match with one of the allowed audiences "
            f"'{','.join(audiences)}'."
        )
        return RefusedToken("InvalidAuthenticationTokenAudience", wrong)
    return str(claims["appid"])


def expired(expiry: datetime, now: datetime) -> RefusedToken:
    """Return the refusal of an expired token."""
    return RefusedToken(
        "ExpiredAuthenticationToken",
        f"The access token expiry UTC time '{_us_format(expiry)}' is earlier than current UTC "
        f"time '{_us_format(now)}'.",
    )


def revoked(claims: str = "") -> RefusedToken:
    """Return the refusal of a revoked token."""
    return RefusedToken("InvalidAuthenticationToken", "The access token has been revoked.", claims)


def _us_format(moment: datetime) -> str:
    hour = moment.hour % 12 or 12
    return f"{moment.month}/{moment.day}/{moment.year} {hour}:{moment:%M:%S %p}"


def identity_refusal(
    query: Mapping[str, str], header: str, expected: str, identities: Collection[str]
) -> Answer | None:
    """Return the refusal of a request; None if it is valid.

    `header` is the request's X-IDENTITY-HEADER; `identities` are the client ids of user-assigned
    identities.
    """
    if not hmac.compare_digest(header.encode(), expected.encode()):
        return _refused_identity(401, "The X-IDENTITY-HEADER does not match.")
    if query.get("api-version") != IDENTITY_API_VERSION:
        return _refused_identity(400, "The api-version is not supported.")
    if not query.get("resource"):
        return _refused_identity(400, "The resource is missing.")
    names = {"client_id", "mi_res_id", "object_id", "principal_id"} & query.keys()
    if names and query.get("client_id") not in identities:
        missing = "No Managed Identity found for specified ClientId/ResourceId/PrincipalId."
        return _refused_identity(400, missing)
    return None


def identity_answer(token: str, resource: str, client_id: str, expires_on: int) -> Answer:
    """Return the response with the token and its expiry."""
    body: dict[str, Any] = {
        "access_token": token,
        "expires_on": str(expires_on),
        "resource": resource,
        "token_type": "Bearer",
        "client_id": client_id,
    }
    return Answer(200, body)


def _refused_identity(status: int, message: str) -> Answer:
    return Answer(status, {"statusCode": status, "message": message, "correlationId": None})
