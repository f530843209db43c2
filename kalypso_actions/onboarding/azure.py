"""Sign-in to Azure: federated credentials for the jobs of each environment."""

from __future__ import annotations

import json
import shlex
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.onboarding.setup import RepositorySetup, Setup
from kalypso_actions.onboarding.tasks import Identity, Task

GITHUB: Final = "https://github.com"
AZURE_APPS: Final = (
    "https://portal.azure.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
)
AUDIENCE: Final = "api://AzureADTokenExchange"

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
    for environment in setup.environments:
        for name, subject in subjects(repository, environment.name, identity):
            lines.append(_federated_credential(name, subject, repository.server))
    lines.append(
        'az role assignment create --assignee "$AZURE_CLIENT_ID" --role Reader '
        '--scope "/subscriptions/<subscription id>"'
    )
    forms = (
        ""
        if _is_enterprise_server(repository.server)
        else "A repository signs in by its names or by its ids, depending on its age and settings: "
        "create both credentials of each environment. "
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
    owner, _, name = repository.name.partition("/")
    label = f"kalypso-{environment.replace('.', '-')}"  # Azure's names have no dots
    by_name = (label, f"repo:{owner}/{name}:environment:{environment}")
    if _is_enterprise_server(repository.server):
        return (by_name,)
    owner_id = identity.owner_id or OWNER_ID
    repository_id = identity.repository_id or REPOSITORY_ID
    subject = f"repo:{owner}@{owner_id}/{name}@{repository_id}:environment:{environment}"
    return by_name, (f"{label}-by-id", subject)


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
