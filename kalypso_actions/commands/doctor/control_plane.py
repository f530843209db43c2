"""The control plane: its workflows, secrets, variables and settings, and what follows what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from kalypso_actions.clients.github import branches, environments, settings
from kalypso_actions.commands.doctor import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.environments import NEXT_ENVIRONMENT, check_next
from kalypso_actions.commands.doctor.facts import EnvironmentFacts, Facts
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_branch import EnvironmentBranch
from kalypso_actions.doctor_rules import (
    Check,
    UsedNames,
    actions_checks,
    job_may_propose,
    name_checks,
    ok,
    pages,
    problem,
    push_checks,
    warning,
)
from kalypso_actions.model.github import SettingNames
from kalypso_actions.onboarding.workflows import CD_FILE, CHECK_PROMOTE_FILE, MODE, proposes


def check_control_plane(
    context: CommandContext, facts: Facts, without_azure: Collection[str], checklist: Checklist
) -> None:
    """Record how the control plane's repository stands.

    The environments `without_azure` have no clusters that report to it.
    """
    name = context.control_plane
    cd = ""
    used = workflows.Used()
    main = workflows.read_files(context, name, facts.main, checklist)
    if main:
        disabled = workflows.disabled_files(context, name, checklist)
        templates = workflows.templates("control-plane", name, facts.main)
        workflows.check_files(main, templates, disabled, used, checklist)
        cd = main.texts.get(CD_FILE, "")
    for branch in dict.fromkeys(one.branch for one in facts.environments if one.has_branch):
        files = workflows.read_files(context, name, branch, checklist)
        if files:
            templates = workflows.templates("control-plane-environment", name, facts.main)
            workflows.check_files(files, templates, {}, used, checklist)
    found = checklist.optional(lambda: settings.of_actions(context.github, name), name)
    if found:
        checklist.add(actions_checks(name, found, used.actions, proposes_by_job=proposes(cd)))
    if proposes(cd) and not job_may_propose(cd):
        text = f"{CD_FILE} on {facts.main} has mode: pull-request, and its job may open none"
        advice = "add pull-requests: write to the job's permissions"
        checklist.add([problem(name, text, advice, pages.file(facts.main, CD_FILE))])
    secrets = _check_names(context, facts, used.names, without_azure, checklist)
    promotes = used.names.get(CHECK_PROMOTE_FILE, UsedNames())
    asks_secret = f"secrets.{NEXT_ENVIRONMENT}" in promotes.in_environment
    for one in facts.environments:
        by_secret = asks_secret and NEXT_ENVIRONMENT in secrets.get(one.name, ())
        check_next(context, one, facts, by_secret, checklist)
    for one in facts.environments:
        _check_pushes(context, one, facts.main, bool(MODE.search(cd)), checklist)


def _check_names(
    context: CommandContext,
    facts: Facts,
    used: Mapping[str, UsedNames],
    without_azure: Collection[str],
    checklist: Checklist,
) -> Mapping[str, Collection[str]]:
    """Secrets and variables, also those of GitHub's environments, which must exist.

    Returns the secrets of each environment, as far as they can be seen.
    """
    name, github = context.control_plane, context.github
    of_repository = checklist.optional(lambda: settings.of_repository(github, name), name)
    of_environments = _names_of_environments(context, facts, checklist)
    if of_repository:
        checklist.add(
            name_checks(name, used, of_repository, of_environments, without_azure=without_azure)
        )
    return {environment: names.secrets for environment, names in of_environments.items()}


def _names_of_environments(
    context: CommandContext, facts: Facts, checklist: Checklist
) -> Mapping[str, SettingNames]:
    """What each of GitHub's environments has, as far as it can be seen."""
    name, github = context.control_plane, context.github
    existing = checklist.optional(lambda: environments.names(github, name), name)
    if existing is None:
        return {}
    known = {one.lower() for one in existing}
    found: dict[str, SettingNames] = {}
    for one in facts.environments:
        if one.name.lower() in known:
            checklist.add([ok(name, f"there is a GitHub environment {one.name}")])
            own = checklist.optional(partial(settings.of_environment, github, name, one.name))
            found |= {one.name: own} if own else {}
        else:
            checklist.add([_unprotected(name, one.name)])
            found[one.name] = SettingNames()
    return found


def _unprotected(place: str, environment: str) -> Check:
    return warning(
        place,
        f"there is no GitHub environment {environment}: its first job creates it, unprotected",
        "create it, with the reviewers that it is to have",
        pages.NEW_ENVIRONMENT,
    )


def _check_pushes(
    context: CommandContext,
    one: EnvironmentFacts,
    main: str,
    by_pull_request: bool,
    checklist: Checklist,
) -> None:
    """CD pushes to the environment's branch, or to its own one, which it proposes."""
    name = context.control_plane
    place = checklist.required(lambda: EnvironmentBranch(context, one.environment, main))
    if place is None:
        return
    branch = place.own_name if by_pull_request else place.name
    rules = checklist.optional(lambda: branches.rules(context.github, name, branch))
    if rules:
        otherwise = "" if by_pull_request else ", or let cd propose (mode: pull-request)"
        checklist.add(push_checks(name, branch, rules, "cd", otherwise, is_own=by_pull_request))
