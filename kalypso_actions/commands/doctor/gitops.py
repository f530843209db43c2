"""Check a GitOps repository: branches, workflows, settings, and open pull requests."""

from __future__ import annotations

from functools import partial

from kalypso_actions.clients.github import branches, labels, pull_requests, settings
from kalypso_actions.commands.doctor import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import PROMOTED
from kalypso_actions.doctor_rules import (
    actions_checks,
    approval_checks,
    name_checks,
    push_checks,
    signature_checks,
)
from kalypso_actions.doctor_rules import repositories as rules


def check_gitops(
    context: CommandContext, repository: str, facts: Facts, checklist: Checklist
) -> None:
    """Check a GitOps repository."""
    proposals = [
        (target.branch, own_branch)
        for environment in facts.environments
        for target, own_branch in zip(environment.gitops, environment.own_branches, strict=True)
        if target.repository == repository
    ]
    states = workflows.read_states(context, repository, checklist)
    templates = workflows.templates("gitops", context.control_plane, facts.main)
    used = workflows.Used()
    url = context.url(repository)
    main = checklist.required(lambda: context.remotes.default_branch(url), repository)
    default = workflows.read_files(context, repository, main, checklist) if main else None
    for branch in dict.fromkeys(branch for branch, _ in proposals):
        if not _exists(context, repository, branch, checklist):
            continue
        files = workflows.read_files(context, repository, branch, checklist)
        if files:
            workflows.check_files(files, templates, states, used, checklist)
            workflows.check_copies(default, files, templates, checklist)
        _check_branch(context, repository, branch, checklist)
    for _, own_branch in proposals:
        branch_rules = checklist.optional(
            partial(branches.rules, context.github, repository, own_branch), repository
        )
        if branch_rules:
            checklist.add(signature_checks(repository, own_branch, branch_rules, "schedule"))
            checklist.add(
                push_checks(repository, own_branch, branch_rules, "schedule", is_own=True)
            )
    _check_repository(context, repository, used, checklist)


def _exists(context: CommandContext, repository: str, branch: str, checklist: Checklist) -> bool:
    head = checklist.required(lambda: branches.head(context.github, repository, branch), repository)
    checklist.add([rules.branch_check(repository, branch, exists=head is not None)])
    return head is not None


def _check_branch(
    context: CommandContext, repository: str, branch: str, checklist: Checklist
) -> None:
    """Check the approvals that merges to a branch need, and upstream's open pull requests."""
    github = context.github
    branch_rules = checklist.optional(
        lambda: branches.rules(github, repository, branch), repository
    )
    if branch_rules:
        checklist.add(approval_checks(repository, branch, branch_rules))
        checklist.add(signature_checks(repository, branch, branch_rules, "schedule"))
    pulls = checklist.optional(
        lambda: pull_requests.open_into(github, repository, branch), repository
    )
    checklist.add(rules.upstream_proposals(repository, branch, pulls or ()))


def _check_repository(
    context: CommandContext, repository: str, used: workflows.Used, checklist: Checklist
) -> None:
    github = context.github
    actions = checklist.optional(lambda: settings.of_actions(github, repository), repository)
    if actions:
        checklist.add(actions_checks(repository, actions, used.actions, proposes_by_job=False))
    names = checklist.optional(lambda: settings.of_repository(github, repository), repository)
    if names:
        checklist.add(name_checks(repository, used.names, names, {}))
    has_label = checklist.optional(lambda: labels.exists(github, repository, PROMOTED), repository)
    if has_label is not None:
        checklist.add([rules.label_check(repository, PROMOTED, exists=has_label)])
