"""A GitOps repository: its branches, workflows, secrets and variables, and what is open there."""

from __future__ import annotations

from functools import partial
from typing import Final

from kalypso_actions.clients.github import branches, labels, pull_requests, settings
from kalypso_actions.commands.doctor import workflows
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.labels import PROMOTED
from kalypso_actions.doctor_rules import (
    actions_checks,
    approval_checks,
    name_checks,
    ok,
    problem,
    push_checks,
    warning,
)

UPSTREAMS: Final = "deployment/"
"""Begins the branches that upstream proposes from."""


def check_gitops(
    context: CommandContext, repository: str, facts: Facts, checklist: Checklist
) -> None:
    """Record how a GitOps repository stands."""
    places = [
        (place.branch, own)
        for environment in facts.environments
        for place, own in zip(environment.gitops, environment.own_branches, strict=True)
        if place.repository == repository
    ]
    disabled = workflows.disabled_files(context, repository, checklist)
    ours = workflows.templates("gitops", context.control_plane, facts.main)
    used = workflows.Used()
    for branch in dict.fromkeys(branch for branch, _ in places):
        if not _is_there(context, repository, branch, checklist):
            continue
        files = workflows.read_files(context, repository, branch, checklist)
        if files:
            workflows.check_files(files, ours, disabled, used, checklist)
        _check_branch(context, repository, branch, checklist)
    for _, own in places:
        rules = checklist.optional(
            partial(branches.rules, context.github, repository, own), repository
        )
        if rules:
            checklist.add(push_checks(repository, own, rules, "schedule", is_own=True))
    _check_repository(context, repository, used, checklist)


def _is_there(context: CommandContext, repository: str, branch: str, checklist: Checklist) -> bool:
    head = checklist.required(lambda: branches.head(context.github, repository, branch), repository)
    if head is None:
        text = f"there is no branch {branch}"
        checklist.add([problem(repository, text, "kalypso init creates it")])
        return False
    checklist.add([ok(repository, f"the branch {branch} is there")])
    return True


def _check_branch(
    context: CommandContext, repository: str, branch: str, checklist: Checklist
) -> None:
    """Approvals of what is merged to a branch, and what of upstream's is open."""
    github = context.github
    rules = checklist.optional(lambda: branches.rules(github, repository, branch), repository)
    if rules:
        checklist.add(approval_checks(repository, branch, rules))
    pulls = checklist.optional(lambda: pull_requests.into(github, repository, branch), repository)
    for pull in pulls or ():
        if pull.head_branch.startswith(UPSTREAMS):
            text = f"#{pull.number} into {branch} is open, and was proposed by upstream"
            checklist.add([warning(repository, text, "close it, or merge it first", pull.url)])


def _check_repository(
    context: CommandContext, repository: str, used: workflows.Used, checklist: Checklist
) -> None:
    github = context.github
    found = checklist.optional(lambda: settings.of_actions(github, repository), repository)
    if found:
        checklist.add(actions_checks(repository, found, used.actions, proposes_by_job=False))
    names = checklist.optional(lambda: settings.of_repository(github, repository), repository)
    if names:
        checklist.add(name_checks(repository, used.names, names, {}))
    has_label = checklist.optional(lambda: labels.exists(github, repository, PROMOTED), repository)
    if has_label is not None:
        text = "is there" if has_label else "is not there yet: schedule makes it"
        checklist.add([ok(repository, f"the label {PROMOTED} {text}")])
