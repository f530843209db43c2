"""Check the control plane: workflows, secrets, variables, settings, and promotion."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Final

from kalypso_actions.clients.github import branches, environments, settings
from kalypso_actions.commands.doctor import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.environments import check_promotion
from kalypso_actions.commands.doctor.facts import EnvironmentFacts, Facts
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import checked_branch
from kalypso_actions.doctor_rules import (
    UsedNames,
    actions_checks,
    credential_checks,
    name_checks,
    proposal_checks,
    push_checks,
    required_check_checks,
    signature_checks,
)
from kalypso_actions.doctor_rules import environments as rules
from kalypso_actions.model.federated_credentials import subject_prefixes
from kalypso_actions.model.github import SettingNames
from kalypso_actions.onboarding.workflows import (
    CD_FILE,
    CHECK_PROMOTE_FILE,
    MODE,
    proposes,
    runs_by_job,
)

CLIENT_ID: Final = "AZURE_CLIENT_ID"


def check_control_plane(
    context: CommandContext, facts: Facts, not_reporting: Collection[str], checklist: Checklist
) -> None:
    """Check the control plane's repository.

    `not_reporting` are the environments whose clusters report nothing.
    """
    name = context.control_plane
    cd_workflow = ""
    used = workflows.Used()
    main = workflows.read_files(context, name, facts.main, checklist)
    if main:
        states = workflows.read_states(context, name, checklist)
        templates = workflows.templates("control-plane", name, facts.main)
        workflows.check_files(main, templates, states, used, checklist)
        cd_workflow = main.texts.get(CD_FILE, "")
    templates = workflows.templates("control-plane-environment", name, facts.main)
    existing = (environment.branch for environment in facts.environments if environment.has_branch)
    for branch in dict.fromkeys(existing):
        files = workflows.read_files(context, name, branch, checklist)
        if files:
            workflows.check_files(files, templates, {}, used, checklist)
            if MODE.search(cd_workflow):
                workflows.check_copies(main, files, templates, checklist)
    by_job = proposes(cd_workflow)
    actions = checklist.optional(lambda: settings.of_actions(context.github, name), name)
    if actions:
        checklist.add(actions_checks(name, actions, used.actions, proposes_by_job=by_job))
    if by_job:
        checklist.add(proposal_checks(name, facts.main, CD_FILE, cd_workflow))
    of_environments = _check_names(context, facts, used.names, not_reporting, checklist)
    secrets = {environment: names.secrets for environment, names in of_environments.items()}
    identities = [item for item, names in of_environments.items() if CLIENT_ID in names.variables]
    if main and set(facts.by_name) - set(not_reporting):
        signing_in = [name for name in facts.by_name if name not in {*not_reporting, *identities}]
        check_promote = main.texts.get(CHECK_PROMOTE_FILE, "")
        server = context.github.server.server_url
        prefixes = [prefix for _, prefix in subject_prefixes(name, server, facts.repository)]
        checklist.add(credential_checks(name, facts.main, signing_in, check_promote, prefixes))
    promotion_names = used.names.get(CHECK_PROMOTE_FILE, UsedNames()).in_environment
    for environment in facts.environments:
        by_secret = rules.is_named_by_secret(promotion_names, secrets.get(environment.name, ()))
        check_promotion(context, environment, facts, by_secret, checklist)
    for environment in facts.environments:
        _check_pushes(context, environment, facts.main, cd_workflow, checklist)


def _check_names(
    context: CommandContext,
    facts: Facts,
    used: Mapping[str, UsedNames],
    not_reporting: Collection[str],
    checklist: Checklist,
) -> Mapping[str, SettingNames]:
    """Check secrets and variables, and that the GitHub environments exist.

    Returns the visible names of each environment.
    """
    name, github = context.control_plane, context.github
    of_repository = checklist.optional(lambda: settings.of_repository(github, name), name)
    of_environments = _names_of_environments(context, facts, checklist)
    if of_repository:
        checklist.add(
            name_checks(name, used, of_repository, of_environments, not_reporting=not_reporting)
        )
    return of_environments


def _names_of_environments(
    context: CommandContext, facts: Facts, checklist: Checklist
) -> Mapping[str, SettingNames]:
    """Return the visible names of each GitHub environment; a missing one has none."""
    name, github = context.control_plane, context.github
    existing = checklist.optional(lambda: environments.names(github, name), name)
    if existing is None:
        return {}
    names: dict[str, SettingNames] = {}
    for environment in facts.by_name:
        check = rules.github_environment_check(name, environment, existing)
        checklist.add([check])
        if check.state != "ok":
            names[environment] = SettingNames()
            continue
        visible = checklist.optional(partial(settings.of_environment, github, name, environment))
        if visible:
            names[environment] = visible
    return names


def _check_pushes(
    context: CommandContext,
    environment: EnvironmentFacts,
    main: str,
    cd_workflow: str,
    checklist: Checklist,
) -> None:
    """Check the branch that cd pushes to: the environment's, or the branch of its pull request."""
    name = context.control_plane
    by_pull_request = bool(MODE.search(cd_workflow))
    target = checklist.required(lambda: checked_branch(environment.environment, main, context))
    if target is None:
        return
    branch = target.own_name if by_pull_request else target.name
    branch_rules = checklist.optional(lambda: branches.rules(context.github, name, branch))
    if branch_rules:
        checklist.add(signature_checks(name, branch, branch_rules, "cd"))
        alternative = "" if by_pull_request else ", or let cd propose (mode: pull-request)"
        checklist.add(
            push_checks(
                name,
                branch,
                branch_rules,
                "cd",
                alternative,
                is_own=by_pull_request,
                by_job=runs_by_job(cd_workflow),
            )
        )
    if proposes(cd_workflow):
        base_rules = checklist.optional(lambda: branches.rules(context.github, name, target.name))
        if base_rules:
            checklist.add(required_check_checks(name, target.name, base_rules))
