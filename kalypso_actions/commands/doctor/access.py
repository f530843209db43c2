"""What the App or the token may do, and whether Azure answers."""

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
from kalypso_actions.doctor_rules import app_checks, ok, pages, problem, warning
from kalypso_actions.inputs import permissions
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import AppInstallation
from kalypso_actions.model.urls import owner_of

AZURE: Final = "Azure"


def check_credentials(jobs: CommandContext, facts: Facts, checklist: Checklist) -> None:
    """Record whether the App, or the token in its place, may write where the chain does."""
    everything = (jobs.control_plane, *facts.gitops_repositories)
    app = jobs.github.installations
    if app:
        _check_app(app, everything, checklist)
    for name in everything:
        found = checklist.required(partial(repositories.get, jobs.github, name), name)
        if found and found.is_archived:
            text = "the repository is archived: nothing can be written"
            checklist.add([problem(name, text, "unarchive it", pages.GENERAL)])
        if app is None and found and not found.may_push:
            text = "the given token may not push: no job can use it"
            advice = "look at the token that the jobs have, too: give it to kalypso doctor"
            checklist.add([warning(name, text, advice)])


def _check_app(app: Installations, everything: Sequence[str], checklist: Checklist) -> None:
    """It must be installed for all owners, with what it needs, and for all repositories."""
    installed: dict[str, AppInstallation] = {}
    for owner in dict.fromkeys(_owner(name) for name in everything):
        found = checklist.required(partial(app.installation, owner), owner)
        if found:
            installed[owner] = found
            checklist.add(app_checks(owner, found, permissions.of_app()))
    for name in everything:
        if _owner(name) not in installed:
            continue
        has = checklist.required(partial(app.has, name), name)
        if has:
            checklist.add([ok(name, "the App is installed for the repository")])
        elif has is not None:
            text = "the App is not installed for the repository"
            advice = "add the repository where the App is installed"
            checklist.add([problem(name, text, advice, installed[_owner(name)].page)])


def _owner(name: str) -> str:
    return owner_of(name) or name


def check_azure(
    inputs: DoctorInputs,
    context: CommandContext,
    facts: Facts,
    without_azure: Collection[str],
    checklist: Checklist,
) -> None:
    """Record what Azure says of each GitOps branch, asked as check-promote would.

    Nobody asks it about the environments `without_azure`.
    """
    asked = [one for one in facts.environments if one.name not in without_azure]
    if not asked:
        return
    if not inputs.azure_scopes:
        advice = "give --azure-scopes, and sign in (az login), to have Azure asked"
        checklist.add([warning(AZURE, "Azure was not asked about clusters", advice)])
        return
    with AzureClusters(inputs, context.runtime) as azure:
        for one in asked:
            for branch in one.gitops:
                rows = checklist.required(
                    partial(azure.following, branch.url, branch.branch), AZURE
                )
                if rows is None:
                    return
                text = f"{branch.name} is followed by {counted(len(rows), 'Flux configuration')}"
                advice = "see that the scopes and the role Reader cover the clusters' subscriptions"
                checklist.add([ok(AZURE, text) if rows else warning(AZURE, text, advice)])
