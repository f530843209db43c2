"""Check an application: `kalypso doctor --control-plane <its source>`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.app.environment import read_environments
from kalypso_actions.commands.doctor.facts import Checklist, Facts
from kalypso_actions.commands.doctor.repositories import (
    Used,
    check_access,
    check_branch,
    check_copies,
    check_files,
    check_own_branch,
    read_files,
    read_states,
    templates,
)
from kalypso_actions.commands.registry import APPLICATION, app_permissions
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.workflow_templates import Place
from kalypso_actions.doctor_rules import application as rules
from kalypso_actions.doctor_rules import repositories as repository_rules
from kalypso_actions.doctor_rules.workflows import Templates
from kalypso_actions.model.application import (
    CONFIGS_VARIABLE,
    GITOPS_VARIABLE,
    SOURCE_VARIABLE,
)
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.onboarding.application import CI_FILE, RELEASES, other_repositories


def check_application(
    context: CommandContext, jobs: CommandContext, facts: Facts, checklist: Checklist
) -> None:
    """Check the three repositories of an application; its source names the other two."""
    source = context.control_plane
    values = facts.names.values if facts.names else {}
    given = [values.get(name, "") for name in (CONFIGS_VARIABLE, GITOPS_VARIABLE)]
    configs, gitops = other_repositories(source, *given)
    found = checklist.required(lambda: read_environments(source, context), source)
    environments = tuple(found or ())
    if found is not None:
        checklist.add([rules.order_check(source, facts.main, environments)])
    # What cannot be read is told once, and not by each check.
    known = [
        name
        for name in (configs, gitops)
        if checklist.required(partial(repositories.get, context.github, name), name)
    ]
    needed = app_permissions(command.name for command in APPLICATION)
    check_access(jobs, (source, *known), needed, checklist)
    _check_source(context, facts, environments, checklist)
    if configs in known:
        _check_other(context, configs, "application-configs", environments, checklist)
    if gitops not in known:
        return
    _check_other(context, gitops, "application-gitops", environments, checklist)
    for environment in environments:
        check_branch(context, gitops, environment, "app-deploy", checklist)
        own = f"{OWN_BRANCHES}{environment}"
        check_own_branch(context, gitops, own, "app-deploy", checklist)


def _check_source(
    context: CommandContext, facts: Facts, environments: Sequence[str], checklist: Checklist
) -> None:
    source, main, github = context.control_plane, facts.main, context.github
    files = read_files(context, source, main, checklist)
    used = Used()
    if files:
        releases = RELEASES in files.texts.get(CI_FILE, "")
        checklist.add([rules.release_check(source, main, CI_FILE, releases=releases)])
        ours = _without_build(templates("application-source", source, main))
        states = read_states(context, source, checklist)
        check_files(files, "application-source", ours, states, used, checklist)
    actions = checklist.optional(partial(repositories.settings_of_actions, github, source), source)
    if actions:
        checklist.add(
            repository_rules.actions_checks(source, actions, used.actions, proposes_by_job=False)
        )
    if facts.names is None:
        return
    expected = {rules.APP_ID: None, CONFIGS_VARIABLE: None, GITOPS_VARIABLE: None}
    checklist.add(rules.variable_checks(source, facts.names, expected))
    existing = checklist.optional(partial(repositories.environments, github, source), source)
    if existing is None:
        return
    names = (rules.OF_CHAIN, *environments)
    known = {name.lower(): rule for name, rule in existing.items()}
    protected = {name: known[name.lower()] for name in names if name.lower() in known}
    checklist.add(rules.protection_checks(source, main, protected))
    of_environments = {
        name: checklist.optional(
            partial(repositories.settings_of_environment, github, source, name), source
        )
        if name in protected
        else None
        for name in names
    }
    checklist.add(rules.key_checks(source, main, facts.names, of_environments))


def _without_build(ours: Templates) -> Templates:
    """Leave out ci.yml: it has the job that builds the image."""

    def fill(actions: str, ref: str) -> Mapping[str, str]:
        return {path: text for path, text in ours(actions, ref).items() if path != CI_FILE}

    return fill


def _check_other(
    context: CommandContext,
    name: str,
    place: Place,
    environments: Sequence[str],
    checklist: Checklist,
) -> None:
    """Check the configs or the GitOps repository: its branches, workflow files, and keys."""
    url = context.url(name)
    main = checklist.required(lambda: context.remotes.default_branch(url), name)
    heads = checklist.required(lambda: context.remotes.heads(url, environments), name)
    if main is None or heads is None:
        return
    ours, used = templates(place, context.control_plane, main), Used()
    states = read_states(context, name, checklist)
    default = read_files(context, name, main, checklist)
    for branch in environments:
        checklist.add([rules.branch_check(name, branch, exists=branch in heads)])
        files = read_files(context, name, branch, checklist) if branch in heads else None
        if files:
            check_files(files, place, ours, states, used, checklist)
            check_copies(default, files, ours, checklist)
    names = checklist.optional(partial(repositories.settings, context.github, name), name)
    if names:
        expected = {SOURCE_VARIABLE: context.control_plane}
        checklist.add(rules.variable_checks(name, names, expected))
        checklist.add(rules.notifier_checks(name, names))
