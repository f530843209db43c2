"""`kalypso doctor`: what a control plane and its GitOps repositories lack. Nothing is written.

record          the checks so far; what cannot be looked at is one of them
facts           the environments, and where they propose
workflows       workflow files, and the secrets and variables that they use
control_plane   the control plane
gitops          the GitOps repositories
environments    each environment: what it renders, and where a commit goes on from it
access          what the App or the token may do, and whether Azure answers
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kalypso_actions.commands.doctor.access import check_azure, check_credentials
from kalypso_actions.commands.doctor.checklist import Checklist
from kalypso_actions.commands.doctor.control_plane import check_control_plane
from kalypso_actions.commands.doctor.environments import check_environment
from kalypso_actions.commands.doctor.facts import read_facts
from kalypso_actions.commands.doctor.gitops import check_gitops
from kalypso_actions.commands.runtime.context import CommandContext, Runtime, open_context
from kalypso_actions.doctor_rules import Check
from kalypso_actions.inputs.chain import EMPTY
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.report.documents import CheckEntry, DoctorDocument
from kalypso_actions.snapshot.reader import in_parallel


def doctor(inputs: DoctorInputs, runtime: Runtime) -> DoctorDocument:
    """Look at everything that the chain needs, and tell how each stands.

    The token's owner sees the settings; what jobs see is looked at as the App, where it is given.
    Raises UsageError for inputs that are missing or contradict one another.
    """
    has_token = bool(inputs.token.get_secret_value())
    has_app = bool(inputs.app_id or inputs.app_private_key.get_secret_value())
    by_token = inputs.model_copy(update={"app_id": "", "app_private_key": EMPTY})
    with open_context(by_token if has_token else inputs, runtime) as context:
        if not (has_app and has_token):
            return _looked_at(inputs, context, context)
        with open_context(inputs, runtime) as jobs:
            return _looked_at(inputs, context, jobs)


def _looked_at(
    inputs: DoctorInputs, context: CommandContext, jobs: CommandContext
) -> DoctorDocument:
    """`context` sees the settings, `jobs` what jobs see."""
    checklist = Checklist(context.control_plane)
    facts = read_facts(context, checklist)
    if facts:
        check_credentials(jobs, facts, checklist)
        without_azure = [
            one.name
            for one in facts.environments
            if not check_environment(inputs, jobs, one, checklist)
        ]
        parts: list[Callable[[Checklist], None]] = [
            partial(check_control_plane, context, facts, without_azure),
            *(partial(check_gitops, context, one, facts) for one in facts.gitops_repositories),
            partial(check_azure, inputs, context, facts, without_azure),
        ]

        def look(part: Callable[[Checklist], None]) -> list[Check]:
            own = Checklist(context.control_plane)
            part(own)
            return own.checks

        for checks in in_parallel(look, parts):
            checklist.add(checks)
    told = dict.fromkeys(checklist.checks)  # what is refused is so to everything that asks for it
    entries = tuple(_entry(context, one) for one in told)
    return DoctorDocument(control_plane=context.control_plane, checks=entries)


def _entry(context: CommandContext, one: Check) -> CheckEntry:
    link = one.page
    if link and "://" not in link:
        link = f"{context.url(one.place)}/{link}"
    return CheckEntry(place=one.place, state=one.state, text=one.text, advice=one.advice, link=link)
