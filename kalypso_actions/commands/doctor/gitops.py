"""A GitOps repository: its branches, workflows, secrets and variables, and what is open there."""

from __future__ import annotations

from functools import partial
from typing import Final

from kalypso_actions.clients.github import branches, labels, pull_requests, settings
from kalypso_actions.commands.doctor import workflows
from kalypso_actions.commands.doctor.facts import Facts
from kalypso_actions.commands.doctor.record import Record
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


def check_gitops(context: CommandContext, repository: str, facts: Facts, record: Record) -> None:
    """Record how a GitOps repository stands."""
    places = [
        (place.branch, own)
        for environment in facts.environments
        for place, own in zip(environment.gitops, environment.own_branches, strict=True)
        if place.repository == repository
    ]
    disabled = workflows.disabled_files(context, repository, record)
    ours = workflows.templates("gitops", context.control_plane, facts.main)
    used = workflows.Used()
    for branch in dict.fromkeys(branch for branch, _ in places):
        if not _is_there(context, repository, branch, record):
            continue
        files = workflows.read_files(context, repository, branch, record)
        if files:
            workflows.check_files(files, ours, disabled, used, record)
        _check_branch(context, repository, branch, record)
    for _, own in places:
        rules = record.looked_up(
            partial(branches.rules, context.github, repository, own), repository
        )
        if rules:
            record.add(push_checks(repository, own, rules, "schedule", is_own=True))
    _check_repository(context, repository, used, record)


def _is_there(context: CommandContext, repository: str, branch: str, record: Record) -> bool:
    head = record.needed(lambda: branches.head(context.github, repository, branch), repository)
    if head is None:
        text = f"there is no branch {branch}"
        record.add([problem(repository, text, "kalypso init creates it")])
        return False
    record.add([ok(repository, f"the branch {branch} is there")])
    return True


def _check_branch(context: CommandContext, repository: str, branch: str, record: Record) -> None:
    """Approvals of what is merged to a branch, and what of upstream's is open."""
    github = context.github
    rules = record.looked_up(lambda: branches.rules(github, repository, branch), repository)
    if rules:
        record.add(approval_checks(repository, branch, rules))
    pulls = record.looked_up(lambda: pull_requests.into(github, repository, branch), repository)
    for pull in pulls or ():
        if pull.head_branch.startswith(UPSTREAMS):
            text = f"#{pull.number} into {branch} is open, and was proposed by upstream"
            record.add([warning(repository, text, "close it, or merge it first", pull.url)])


def _check_repository(
    context: CommandContext, repository: str, used: workflows.Used, record: Record
) -> None:
    github = context.github
    found = record.looked_up(lambda: settings.of_actions(github, repository), repository)
    if found:
        record.add(actions_checks(repository, found, used.actions, proposes_by_job=False))
    names = record.looked_up(lambda: settings.of_repository(github, repository), repository)
    if names:
        record.add(name_checks(repository, used.names, names, {}))
    has_label = record.looked_up(lambda: labels.exists(github, repository, PROMOTED), repository)
    if has_label is not None:
        text = "is there" if has_label else "is not there yet: schedule makes it"
        record.add([ok(repository, f"the label {PROMOTED} {text}")])
