"""`kalypso doctor`: check a control plane and its GitOps repositories, or an application.

    document = doctor(DoctorInputs(...), runtime)

It writes nothing without `--probe`. `doctor_rules` judges the facts that this room reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial

from kalypso_actions.commands.doctor.application import check_application
from kalypso_actions.commands.doctor.facts import Checklist, Facts, read_facts
from kalypso_actions.commands.doctor.probe import probe_repositories
from kalypso_actions.commands.doctor.repositories import (
    check_cluster_reports,
    check_control_plane,
    check_credentials,
    check_environment,
    check_gitops,
)
from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext, Runtime, open_context
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.doctor_rules.application import no_probe
from kalypso_actions.doctor_rules.check import Check
from kalypso_actions.doctor_rules.probe import probe_writes
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, EMPTY, DoctorInputs
from kalypso_actions.inputs.values import split_list
from kalypso_actions.report.chain_document import WriteEntry
from kalypso_actions.report.doctor_document import CheckEntry, DoctorDocument

Consent = Callable[[DoctorDocument, Sequence[str]], bool]
"""Shows the checks, and asks whether to probe the repositories."""


def doctor(
    inputs: DoctorInputs,
    runtime: Runtime,
    reports: ClusterReports | None = None,
    consent: Consent = lambda *_: False,
) -> DoctorDocument:
    """Check everything that the chain needs.

    The token's owner reads the settings. The App, if there is one, reads as jobs
    do. `reports` replaces the source of cluster reports that the inputs name. With `inputs.probe`,
    `consent` decides whether to probe. Raises UsageError for inputs that are missing or contradict
    one another.
    """
    has_token = bool(inputs.token.get_secret_value())
    has_app = bool(inputs.app_id or inputs.app_private_key.get_secret_value())
    by_token = inputs.model_copy(update={"app_id": "", "app_private_key": EMPTY})
    with open_context(by_token if has_token else inputs, runtime) as context:
        if not (has_app and has_token):
            return _check(inputs, context, context, reports, consent)
        with open_context(inputs, runtime) as jobs:
            return _check(inputs, context, jobs, reports, consent)


def _with_variables(inputs: DoctorInputs, values: Mapping[str, str]) -> DoctorInputs:
    """Take the sources of cluster reports from the repository's variables, as the workflow does.

    Options come before variables.
    """
    names = ("cluster_reports", "status_authors", "argocd_servers")
    given = {name: split_list(values.get(f"KALYPSO_{name.upper()}", "")) for name in names}
    if inputs.cluster_reports != (DEFAULT_CLUSTER_REPORTS,) or not given["cluster_reports"]:
        return inputs
    options = {name: value for name in names[1:] if (value := getattr(inputs, name))}
    return inputs.model_copy(update=given | options)


def _check(
    inputs: DoctorInputs,
    context: CommandContext,
    jobs: CommandContext,
    reports: ClusterReports | None,
    consent: Consent,
) -> DoctorDocument:
    """Check with `context`, which may read the settings, and with `jobs`, as jobs read."""
    checklist = Checklist(context.control_plane)
    facts = read_facts(context, checklist)
    if facts and facts.names:
        inputs = _with_variables(inputs, facts.names.values)
    source = reports or open_cluster_reports(inputs, context)
    with closing(source):
        return _checked(inputs, context, jobs, source, facts, checklist, consent)


def _checked(
    inputs: DoctorInputs,
    context: CommandContext,
    jobs: CommandContext,
    reports: ClusterReports,
    facts: Facts | None,
    checklist: Checklist,
    consent: Consent,
) -> DoctorDocument:
    if facts and facts.is_application:
        check_application(context, jobs, facts, checklist)
        checklist.add([no_probe(context.control_plane)] if inputs.probe else [])
    elif facts:
        check_credentials(jobs, facts, checklist)
        checked = {
            environment.name: check_environment(inputs, jobs, environment, checklist)
            for environment in facts.environments
        }
        reporting = {name: known for name, known in checked.items() if known is not None}
        not_reporting = [name for name, known in checked.items() if known is None]
        parts: list[Callable[[Checklist], None]] = [
            partial(check_control_plane, context, facts, not_reporting, inputs.cluster_reports),
            *(partial(check_gitops, context, name, facts) for name in facts.gitops_repositories),
            partial(check_cluster_reports, context, reports, facts, reporting),
        ]

        def run(part: Callable[[Checklist], None]) -> list[Check]:
            part_list = Checklist(context.control_plane)
            part(part_list)
            return part_list.checks

        for checks in in_parallel(run, parts):
            checklist.add(checks)
    entries = _entries(context, checklist.checks)
    document = DoctorDocument(control_plane=context.control_plane, checks=entries)
    if facts and inputs.probe and not facts.is_application:
        repositories = (context.control_plane, *facts.gitops_repositories)
        if inputs.dry_run:
            writes = tuple(
                WriteEntry(kind="probe", repository=name, what=probe_writes())
                for name in repositories
            )
            return document.model_copy(update={"writes": writes})
        if consent(document, repositories):
            results = _entries(context, probe_repositories(context, jobs, facts))
            document = document.model_copy(update={"probe": results})
    return document


def _entries(context: CommandContext, checks: Iterable[Check]) -> tuple[CheckEntry, ...]:
    """Convert checks; several may fail for the same reason, which is reported once."""
    return tuple(_entry(context, check) for check in dict.fromkeys(checks))


def _entry(context: CommandContext, check: Check) -> CheckEntry:
    link = check.page
    if link and "://" not in link:
        link = f"{context.url(check.place)}/{link}"
    return CheckEntry(
        place=check.place, state=check.state, text=check.text, advice=check.advice, link=link
    )
