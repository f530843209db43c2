"""Sign-in to Azure: federated credentials for the jobs of each environment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.model.federated_credentials import (
    GITHUB,
    MAX_CREDENTIALS,
    OWNER_ID,
    REPOSITORY_ID,
    is_enterprise_server,
    subject_prefixes,
)
from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.onboarding.setup import EnvironmentSetup, Setup
from kalypso_actions.onboarding.tasks import Task

Prefixes = Sequence[tuple[str, str]]
"""The possible prefixes of subjects, each with a suffix for the credential's name."""

AZURE_APPS: Final = (
    "https://portal.azure.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
)
AUDIENCE: Final = "api://AzureADTokenExchange"
OTHER_AUDIENCES: Final = f"US Government: {AUDIENCE}USGov; China: {AUDIENCE}China"


def azure_task(setup: Setup, facts: RepositoryFacts | None) -> Task:
    """Return the task that lets check-promote query Azure Resource Graph."""
    repository = setup.control_plane
    prefixes = subject_prefixes(repository.name, repository.server, facts)
    lines = ["variables AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_SCOPES (subscription ids)"]
    if facts is None and not is_enterprise_server(repository.server):
        jq = "'.owner.id, .id'"
        lines.append(f"gh api repos/{repository.name} --jq {jq} # {OWNER_ID} and {REPOSITORY_ID}")
    lines.append(f"# audiences of other clouds: {OTHER_AUDIENCES}")
    lines += _identities(setup, prefixes)
    forms = (
        "A repository signs in by its names or by its ids, depending on its age and settings: "
        "create both credentials of each environment. "
        if len(prefixes) > 1
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


def _identities(setup: Setup, prefixes: Prefixes) -> Iterator[str]:
    """Yield the commands for each identity.

    Azure limits the credentials of an identity, so many environments need several. Continued runs
    have no GitHub environment, so they sign in with the first identity.
    """
    server = setup.control_plane.server
    groups = _groups(setup.environments, MAX_CREDENTIALS // len(prefixes))
    for number, group in enumerate(groups, 1):
        identity = "$AZURE_CLIENT_ID" if number == 1 else f"$AZURE_CLIENT_ID_{number}"
        if number > 1:
            yield _another_identity(group, identity)
        for environment in group:
            for name, subject in subjects(environment.name, prefixes):
                yield _federated_credential(name, subject, server, identity)
        if number == 1:
            yield "# only if check-promote.yaml lets continued runs go on without reviewers" + (
                f"; Azure accepts {MAX_CREDENTIALS}, so delete those of the other form first:"
                if (len(group) + 1) * len(prefixes) > MAX_CREDENTIALS
                else ":"
            )
            for name, subject in continued_subjects(setup.control_plane.main, prefixes):
                yield f"# {_federated_credential(name, subject, server, identity)}"
        yield (
            f'az role assignment create --assignee "{identity}" --role Reader '
            '--scope "/subscriptions/<subscription id>"'
        )


def _groups(
    environments: tuple[EnvironmentSetup, ...], size: int
) -> Iterator[tuple[EnvironmentSetup, ...]]:
    """Yield the environments of each identity.

    If there are several identities, the first has room for the credentials of continued runs.
    """
    first = size if len(environments) <= size else size - 1
    yield environments[:first]
    for start in range(first, len(environments), size):
        yield environments[start : start + size]


def _another_identity(environments: tuple[EnvironmentSetup, ...], identity: str) -> str:
    names = ", ".join(environment.name for environment in environments)
    return (
        f"# Azure accepts {MAX_CREDENTIALS} credentials for each identity. For {names}, create "
        f"another one, {identity} below: AZURE_CLIENT_ID as a variable of these GitHub environments"
    )


def _federated_credential(name: str, subject: str, server: str, identity: str) -> str:
    parameters = {
        "name": name,
        "issuer": issuer(server),
        "subject": subject,
        "audiences": [AUDIENCE],
    }
    return (
        f'az ad app federated-credential create --id "{identity}" '
        f"--parameters {shlex.quote(json.dumps(parameters))}"
    )


def subjects(environment: str, prefixes: Prefixes) -> tuple[tuple[str, str], ...]:
    """Return the name and subject of each credential that a GitHub environment's job may need."""
    label = f"kalypso-{environment.replace('.', '-')}"  # Azure's names have no dots
    return tuple(
        (label + suffix, f"{prefix}:environment:{environment}") for suffix, prefix in prefixes
    )


def continued_subjects(main: str, prefixes: Prefixes) -> tuple[tuple[str, str], ...]:
    """Return the name and subject of each credential that a job without an environment may need."""
    return tuple(
        (f"kalypso-continued{suffix}", f"{prefix}:ref:refs/heads/{main}")
        for suffix, prefix in prefixes
    )


def issuer(server: str) -> str:
    """Return the issuer of the jobs' tokens."""
    host = urlsplit(server).netloc
    if server == GITHUB:
        return "https://token.actions.githubusercontent.com"
    if host.endswith(".ghe.com"):
        return f"https://token.actions.{host}"
    return f"{server}/_services/token"
