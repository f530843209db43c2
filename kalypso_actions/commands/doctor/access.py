"""Rights of the App or the token, and the answers of Azure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.clients.github.apps import Installations
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.runtime.azure_clusters import AzureClusters
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.doctor_rules import app_checks, app_repository_check, ok, warning
from kalypso_actions.doctor_rules import repositories as rules
from kalypso_actions.inputs import permissions
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import AppInstallation
from kalypso_actions.model.urls import owner_of

AZURE: Final = "Azure"


def check_credentials(jobs: CommandContext, facts: Facts, checklist: Checklist) -> None:
    """Check that the credentials of the jobs, the App's or the token, can write everywhere."""
    names = (jobs.control_plane, *facts.gitops_repositories)
    app = jobs.github.installations
    if app:
        _check_app(app, names, checklist)
    for name in names:
        repository = checklist.required(partial(repositories.get, jobs.github, name), name)
        if repository:
            checklist.add(rules.access_checks(name, repository, by_app=app is not None))


def _check_app(app: Installations, names: Sequence[str], checklist: Checklist) -> None:
    """Check the installation for each owner, and that it covers each repository."""
    installations: dict[str, AppInstallation] = {}
    for owner in dict.fromkeys(_owner(name) for name in names):
        installation = checklist.required(partial(app.installation, owner), owner)
        if installation:
            installations[owner] = installation
            checklist.add(app_checks(owner, installation, permissions.of_app()))
    for name in names:
        installation = installations.get(_owner(name))
        if installation is None:
            continue
        is_selected = checklist.required(partial(app.is_installed, name), name)
        if is_selected is not None:
            checklist.add([app_repository_check(name, installation, is_selected=is_selected)])


def _owner(name: str) -> str:
    return owner_of(name) or name


def check_azure(
    inputs: DoctorInputs,
    context: CommandContext,
    facts: Facts,
    without_azure: Collection[str],
    checklist: Checklist,
) -> None:
    """Query Azure about each GitOps branch, as check-promote does.

    The environments `without_azure` have no clusters that report to it.
    """
    environments = [
        environment for environment in facts.environments if environment.name not in without_azure
    ]
    if not environments:
        return
    if not inputs.azure_scopes:
        advice = "give --azure-scopes, and sign in (az login), to check the clusters"
        checklist.add([warning(AZURE, "Azure was not asked about clusters", advice)])
        return
    with AzureClusters(inputs, context.runtime) as azure:
        for environment in environments:
            for branch in environment.gitops:
                rows = checklist.required(
                    partial(azure.following, branch.url, branch.branch), AZURE
                )
                if rows is None:
                    return
                text = f"{branch.name} is followed by {counted(len(rows), 'Flux configuration')}"
                advice = "see that the scopes and the role Reader cover the clusters' subscriptions"
                checklist.add([ok(AZURE, text) if rows else warning(AZURE, text, advice)])
