"""Rights of the App or the token, and the reports of the clusters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from kalypso_actions.clients.github import repositories
from kalypso_actions.clients.github.apps import Installations
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.registry import app_permissions
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.doctor_rules import app_checks, app_repository_check, ok, warning
from kalypso_actions.doctor_rules import repositories as rules
from kalypso_actions.model.counts import counted
from kalypso_actions.model.github import AppInstallation
from kalypso_actions.model.urls import owner_of


def check_credentials(jobs: CommandContext, facts: Facts, checklist: Checklist) -> None:
    """Check that the jobs' credential, an App or a token, can write to all repositories."""
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
            checklist.add(app_checks(owner, installation, app_permissions()))
    for name in names:
        installation = installations.get(_owner(name))
        if installation is None:
            continue
        is_selected = checklist.required(partial(app.is_installed, name), name)
        if is_selected is not None:
            checklist.add([app_repository_check(name, installation, is_selected=is_selected)])


def _owner(name: str) -> str:
    return owner_of(name) or name


def check_cluster_reports(
    reports: ClusterReports, facts: Facts, not_reporting: Collection[str], checklist: Checklist
) -> None:
    """Check that clusters report on each GitOps branch, by the source of check-promote.

    `not_reporting` are the environments whose clusters report nothing.
    """
    environments = [
        environment for environment in facts.environments if environment.name not in not_reporting
    ]
    if not environments:
        return
    source, advice = reports.title, reports.setup_advice()
    if advice:
        checklist.add([warning(source, f"{source} was not asked about clusters", advice)])
        return
    for environment in environments:
        for branch in environment.gitops:
            read = partial(reports.reports, branch.url, branch.branch)
            branch_reports = checklist.required(read, source)
            if branch_reports is None:
                return
            number = counted(len(branch_reports), "configuration")
            text = f"{branch.name} is followed by {number} of clusters"
            check = ok(source, text)
            if not branch_reports:
                check = warning(source, text, reports.no_reports_advice)
            checklist.add([check])
