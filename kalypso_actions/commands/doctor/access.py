"""What the App may do, and whether Azure answers."""

from __future__ import annotations

from functools import partial
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.azure_clusters import AzureClusters
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.doctor.record import Record
from kalypso_actions.inputs import permissions
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.model.urls import owner_of
from kalypso_actions.onboarding.checkup import app_checks, ok, warning

AZURE: Final = "Azure"


def check_app(jobs: ChainSession, facts: Facts, record: Record) -> None:
    """Record whether the App is installed for all owners, with what it needs, and for all."""
    github = jobs.github
    everything = (jobs.control_plane, *facts.gitops_repositories)
    for owner in dict.fromkeys(owner_of(name) or name for name in everything):
        granted = record.needed(partial(github.app_permissions, owner), owner)
        if granted is not None:
            record.add(app_checks(owner, granted, permissions.of_app()))
    for name in everything:
        if record.needed(partial(repositories.get, github, name), name):
            record.add([ok(name, "the App sees the repository")])


def check_azure(inputs: DoctorInputs, session: ChainSession, facts: Facts, record: Record) -> None:
    """Record what Azure says of each GitOps branch, asked as check-promote would."""
    if not inputs.azure_scopes:
        advice = "give --azure-scopes, and sign in (az login), to have Azure asked"
        record.add([warning(AZURE, "Azure was not asked about clusters", advice)])
        return
    with AzureClusters(inputs, session.around) as azure:
        for one in facts.environments:
            for branch in one.gitops:
                rows = record.needed(partial(azure.following, branch.url, branch.branch), AZURE)
                if rows is None:
                    return
                count = f"{len(rows)} Flux configuration{'' if len(rows) == 1 else 's'}"
                record.add([ok(AZURE, f"{branch.name} is followed by {count}")])
