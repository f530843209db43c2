"""Sign-in to Azure: federated credentials for the jobs of each environment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.model.federated_credentials import MAX_CREDENTIALS
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup, Setup
from kalypso_actions.onboarding.tasks import Identity, Task

GITHUB: Final = "https://github.com"
AZURE_APPS: Final = (
    "https://portal.azure.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
)
AUDIENCE: Final = "api://AzureADTokenExchange"
OTHER_AUDIENCES: Final = f"US Government: {AUDIENCE}USGov; China: {AUDIENCE}China"

IDS_SINCE: Final = datetime(2026, 7, 15, tzinfo=UTC)
"""Repositories created since then sign in by their ids."""

OWNER_ID: Final = "OWNER-ID"
REPOSITORY_ID: Final = "REPOSITORY-ID"
"""Placeholders for unknown ids."""


def azure_task(setup: Setup, identity: Identity) -> Task:
    """Return the task that lets check-promote query Azure Resource Graph."""
    repository = setup.control_plane
    lines = ["variables AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_SCOPES (subscription ids)"]
    if not identity.repository_id and not _is_enterprise_server(repository.server):
        jq = "'.owner.id, .id'"
        lines.append(f"gh api repos/{repository.name} --jq {jq} # {OWNER_ID} and {REPOSITORY_ID}")
    lines.append(f"# audiences of other clouds: {OTHER_AUDIENCES}")
    lines += _credentials(setup, identity)
    lines.append(
        'az role assignment create --assignee "$AZURE_CLIENT_ID" --role Reader '
        '--scope "/subscriptions/<subscription id>"'
    )
    forms = (
        "A repository signs in by its names or by its ids, depending on its age and settings: "
        "create both credentials of each environment. "
        if len(_prefixes(repository, identity)) > 1
        else ""
    )
    return Task(
        "Let the chain see the clusters",
        "If clusters report to Azure (AKS, Arc): create an app registration with federated "
        f"credentials and the role Reader. {forms}If they do not, annotate the cluster types with "
        "kalypso.io/compliance: none.",
        {
            "app registrations": AZURE_APPS,
            f"variables of {repository.name}": repository.settings("variables/actions/new"),
        },
        tuple(lines),
    )


def _credentials(setup: Setup, identity: Identity) -> Iterator[str]:
    """Yield the commands for all credentials, by identity: Azure limits their number."""
    repository = setup.control_plane
    size = MAX_CREDENTIALS // len(_prefixes(repository, identity))
    for start in range(0, len(setup.environments), size):
        group = setup.environments[start : start + size]
        if start:
            yield _another_identity(group)
        for environment in group:
            for name, subject in subjects(repository, environment.name, identity):
                yield _federated_credential(name, subject, repository.server)
    yield "# only if check-promote.yaml lets continued runs go on without reviewers:"
    for name, subject in continued_subjects(repository, identity):
        yield f"# {_federated_credential(name, subject, repository.server)}"


def _another_identity(environments: tuple[EnvironmentSetup, ...]) -> str:
    names = ", ".join(environment.name for environment in environments)
    return (
        f"# Azure accepts {MAX_CREDENTIALS} credentials for each identity. For {names}, create "
        "another one, and set AZURE_CLIENT_ID as a variable of these GitHub environments"
    )


def _federated_credential(name: str, subject: str, server: str) -> str:
    parameters = {
        "name": name,
        "issuer": issuer(server),
        "subject": subject,
        "audiences": [AUDIENCE],
    }
    return (
        'az ad app federated-credential create --id "$AZURE_CLIENT_ID" '
        f"--parameters {shlex.quote(json.dumps(parameters))}"
    )


def subjects(
    repository: RepositorySetup, environment: str, identity: Identity
) -> tuple[tuple[str, str], ...]:
    """Return name and subject of each credential that a job in a GitHub environment may need.

    One subject has names; the other adds ids, which never change. Repositories created, renamed or
    moved since July 2026 use the latter, and others on request. GitHub Enterprise Server has names
    alone. https://docs.github.com/actions/reference/security/oidc
    """
    label = f"kalypso-{environment.replace('.', '-')}"  # Azure's names have no dots
    return tuple(
        (label + suffix, f"{prefix}:environment:{environment}")
        for suffix, prefix in _prefixes(repository, identity)
    )


def continued_subjects(
    repository: RepositorySetup, identity: Identity
) -> tuple[tuple[str, str], ...]:
    """Return name and subject of each credential that a job without environment may need."""
    return tuple(
        (f"kalypso-continued{suffix}", f"{prefix}:ref:refs/heads/{repository.main}")
        for suffix, prefix in _prefixes(repository, identity)
    )


def _prefixes(repository: RepositorySetup, identity: Identity) -> tuple[tuple[str, str], ...]:
    """Return the possible beginnings of subjects, each with a suffix for the credential's name."""
    owner, _, name = repository.name.partition("/")
    by_name = ("", f"repo:{owner}/{name}")
    if _is_enterprise_server(repository.server):
        return (by_name,)
    owner_id = identity.owner_id or OWNER_ID
    repository_id = identity.repository_id or REPOSITORY_ID
    by_id = ("-by-id", f"repo:{owner}@{owner_id}/{name}@{repository_id}")
    is_new = identity.created_at is not None and identity.created_at >= IDS_SINCE
    return (by_id,) if is_new else (by_name, by_id)


def issuer(server: str) -> str:
    """Return the issuer of the jobs' tokens."""
    host = urlsplit(server).netloc
    if server == GITHUB:
        return "https://token.actions.githubusercontent.com"
    if host.endswith(".ghe.com"):
        return f"https://token.actions.{host}"
    return f"{server}/_services/token"


def _is_enterprise_server(server: str) -> bool:
    return server != GITHUB and not urlsplit(server).netloc.endswith(".ghe.com")
