"""`kalypso observe`: record what each environment should run, and what its clusters run.

document = observe(ObserveInputs(...), context)
"""

from __future__ import annotations

from contextlib import closing
from datetime import datetime

from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.looks.look import compare, read_look, record_looks
from kalypso_actions.commands.shared.looks.recorder import event_entries, tell, thresholds_of
from kalypso_actions.commands.shared.own_proposals import while_others_write
from kalypso_actions.commands.shared.record import (
    RecordBranch,
    read_record,
    record_branch,
    shorter_record,
)
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.chain import ObserveInputs
from kalypso_actions.model.urls import owner_of
from kalypso_actions.model.writes import Push
from kalypso_actions.observations.questions import moment
from kalypso_actions.observations.record import ObservationRecord
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.observe_document import (
    ObservedEnvironmentEntry,
    ObserveDocument,
    observe_headline,
    observe_summary,
)

MESSAGE = "Observe"


def observe(inputs: ObserveInputs, context: CommandContext) -> CommandResult:
    """Record what each environment should run, and what its clusters run.

    This looks at all environments once, and writes what has changed since the last look. A source
    that does not answer is a problem; what the others say is recorded all the same. With
    `prune_before`, this shortens the record instead. Raises KalypsoError if main or the record
    cannot be read, UsageError for a public record.
    """
    branch = record_branch(
        context,
        inputs.record,
        create=True,
        may_be_public=inputs.record_public,
        commit_by=inputs.commit_by,
    )
    at = inputs.now or context.runtime.now()
    take = _prune if inputs.prune_before else _look
    document, write = take(inputs, branch, at, context)
    if inputs.dry_run:
        return dry_run_result("observe", document, filter(None, [write]), context)
    context.runtime.log(f"{observe_headline(document)}.")
    return CommandResult(document, observe_summary(document), failed=bool(document.problems))


def _look(
    inputs: ObserveInputs, branch: RecordBranch, at: datetime, context: CommandContext
) -> tuple[ObserveDocument, Push | None]:
    """Look at all environments, and write what has changed."""
    _, known = read_record(branch)
    with closing(open_cluster_reports(inputs, context)) as reports:
        look = read_look(context, reports, at, known)
    context.remotes.forget_heads()
    thresholds = thresholds_of(inputs)
    compared = compare(branch, [look], context.repositories, thresholds, MESSAGE)
    write, commit = compared.write, compared.head
    if not inputs.dry_run:
        compared, commit = record_looks(branch, [look], context, thresholds, MESSAGE, compared)
    events, more = event_entries(compared.events)
    told = () if inputs.dry_run else tell(events, more, inputs, context)
    document = ObserveDocument(
        control_plane=context.control_plane,
        record=branch.name,
        at=at,
        commit=commit,
        changed=write is not None,
        events=events,
        more_events=more,
        environments=tuple(_entry(each.name, compared.after) for each in look.environments),
        notes=ProblemEntry.all_of(_notes(context)),
        warnings=ProblemEntry.all_of(dict.fromkeys((*look.warnings, *compared.warnings, *told))),
        problems=ProblemEntry.all_of(look.problems),
    )
    return document, write


def _prune(
    inputs: ObserveInputs, branch: RecordBranch, at: datetime, context: CommandContext
) -> tuple[ObserveDocument, Push | None]:
    """Write a record that answers for times after a moment alone."""
    before = moment(inputs.prune_before, at)

    def attempt() -> tuple[Push | None, str]:
        write = shorter_record(branch, before, f"Observe: prune what is before {before:%Y-%m-%d}")
        if write is None or inputs.dry_run:
            return write, branch.head()
        return write, branch.carry_out(write, at)

    write, commit = while_others_write(attempt, context)
    document = ObserveDocument(
        control_plane=context.control_plane,
        record=branch.name,
        at=at,
        commit=commit,
        changed=write is not None,
        pruned_before=before,
    )
    return document, write


def _notes(context: CommandContext) -> tuple[Problem, ...]:
    if owner_of(context.control_plane):
        return ()
    where = Location(context.control_plane)
    message = "promotions are not recorded: their states stand on GitHub's commits alone"
    return (Problem(message, where, "name the control plane as owner/name", level="note"),)


def _entry(environment: str, record: ObservationRecord) -> ObservedEnvironmentEntry:
    """Return the numbers of an environment."""
    lines = [
        line
        for (name, _), table in record.real.items()
        for line in table
        if name == environment and line.status != "gone"
    ]
    look = record.last_look(environment)
    desired = record.desired.get(environment, ())
    clusters = {line.cluster.lower() for line in lines}
    others = {line.cluster.lower() for line in lines if line.relation != "current"}
    failing = {line.cluster.lower() for line in lines if line.status == "failure"}
    return ObservedEnvironmentEntry(
        environment=environment,
        complete=bool(look and look.complete),
        targets=sum(bool(line.content) for line in desired),
        clusters=len(clusters),
        current=len(clusters - others),
        failing=len(failing),
    )
