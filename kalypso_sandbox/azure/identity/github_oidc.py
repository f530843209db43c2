"""GitHub's OIDC endpoint: a job with `id-token: write` gets an assertion of its identity."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from kalypso_sandbox.azure.clusters import UnknownNameError
from kalypso_sandbox.azure.identity import jwt
from kalypso_sandbox.store import Repository, Store

PUBLIC_ISSUER: Final = "https://token.actions.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a repository's workflow, with its request token.

    With `immutable`, the subject contains the ids of owner and repository, as on github.com for
    repositories created or renamed since July 2026.
    """

    repository: str
    environment: str = ""
    ref: str = "refs/heads/main"
    immutable: bool = False
    token: str = field(default="", repr=False)


def issuer(store: Store) -> str:
    """Return the issuer of assertions; each GitHub Enterprise Server has its own."""
    enterprise = store.flavour == "ghes"
    return f"{store.server_url}/_services/token" if enterprise else PUBLIC_ISSUER


def subject(store: Store, job: Job) -> str:
    """Return the subject of a job. Raises UnknownNameError for an unknown repository."""
    repository = _repository(store, job)
    name = repository.full_name
    if job.immutable and store.flavour == "github.com":
        owner = store.account(repository.owner, "Organization")
        name = f"{repository.owner}@{owner.id}/{repository.name}@{repository.id}"
    role = f"environment:{job.environment}" if job.environment else f"ref:{job.ref}"
    return f"repo:{name}:{role}"


def assertion(
    store: Store, job: Job, audience: str, lifetime: timedelta, key: bytes
) -> dict[str, Any]:
    """Return the endpoint's answer. The default audience is the owner's page."""
    repository = _repository(store, job)
    now = store.now
    claims = {
        "iss": issuer(store),
        "aud": audience or f"{store.server_url}/{repository.owner}",
        "sub": subject(store, job),
        "repository": repository.full_name,
        "repository_owner": repository.owner,
        "ref": job.ref,
        **({"environment": job.environment} if job.environment else {}),
        **_validity(now, lifetime),
    }
    value = jwt.sign(claims, key)
    return {"count": len(value), "value": value}


def _validity(now: datetime, lifetime: timedelta) -> dict[str, int]:
    """Return the times of an assertion; it is valid five minutes early, for clock skew."""
    moments = {"nbf": now - timedelta(minutes=5), "iat": now, "exp": now + lifetime}
    return {name: int(moment.timestamp()) for name, moment in moments.items()}


def _repository(store: Store, job: Job) -> Repository:
    repository = store.repository(job.repository)
    if repository is None:
        raise UnknownNameError(f"there is no repository {job.repository!r}")
    return repository
