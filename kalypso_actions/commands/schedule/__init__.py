"""`kalypso schedule`: propose an environment's manifests to its GitOps repositories.

A run that the clock started and that has nothing to do ends at once, without reading documents;
`full_run` tells the story of all others.
"""

from __future__ import annotations

import hashlib
from typing import Final

from kalypso_actions.clients.installed_code import code_digest
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.own_statuses import latest_record, own_statuses
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.schedule_sources import NAMING_REPOSITORIES, read_inputs
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.entry_points import is_own_scheduler
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.lost_starts import is_at_rest, may_rest
from kalypso_actions.promotion.start_records import TIME, read_record, schedule_context
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.schedule_document import (
    ScheduleDocument,
    ScheduleFacts,
    schedule_summary,
)


def schedule(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    """Render an environment and propose its tree: one pull request for each GitOpsRepo.

    The command is idempotent, also if several jobs run at once. Raises KalypsoError if the control
    plane or a GitOps branch cannot be read, or others keep changing them, and UsageError for a
    start that the account must not make.
    """
    inputs = _checked(inputs, context)
    if at_rest := result_at_rest(inputs, context):
        return at_rest
    # A run that ends at once does not wait for these imports.
    from kalypso_actions.commands.schedule.full_run import run_in_full  # noqa: PLC0415

    return run_in_full(inputs, context)


def _checked(inputs: ScheduleInputs, context: CommandContext) -> ScheduleInputs:
    """Return the inputs of the run, without a `force` that does not count.

    Raises UsageError for other inputs that the account which started the run must not give.
    """
    start = checked_start(context, ["allow-removals"] if inputs.allow_removals else [])
    if not inputs.force or start.bot is None:
        return inputs
    environment = context.environment(inputs.environment)
    url, branch = context.url(context.control_plane), environment.control_plane.branch
    head = context.remotes.heads(url, [branch]).get(branch, "")
    context.remotes.forget_heads()
    name = schedule_context(environment.name)
    if start.may_force(latest_record(context, head, name) if head else None):
        return inputs
    warning = Problem(
        f"force does not count: {start.bot} started the run, and no status '{name}' of {head[:7]} "
        "records the start",
        Location(url),
        "to propose again what people rejected, start the workflow yourself",
    )
    context.warn(warning)
    return inputs.model_copy(update={"force": False})


LENGTH: Final = 16
"""Hexadecimal digits of `run_digest`; the description of a status is short."""

PER_RUN: Final = frozenset({"allow_removals", "dry_run", "force", "now", "verify"})
"""Inputs that a person gives for one run."""


def result_at_rest(inputs: ScheduleInputs, context: CommandContext) -> CommandResult | None:
    """Return the result of a run whose inputs an earlier run has scheduled; None for a full run.

    That run has recorded that it left nothing to do: see `promotion.start_records`. If something
    cannot be read now, a full run reports it.
    """
    job = context.runtime.job
    if inputs.now or inputs.verify or not may_rest(job.event_name, job.attempt, force=inputs.force):
        return None
    try:
        return _result(inputs, context)
    except KalypsoError as error:
        context.runtime.log(f"Everything is read: {error.problem.message}")
        return None
    finally:
        # A full run has to read the heads of other branches after those of its own branches.
        context.remotes.forget_heads()


def run_digest(inputs: ScheduleInputs, environment: Environment) -> str:
    """Return the digest of everything besides repositories that decides a run; "" if unknown.

    That is the code, the options and the Environment object. Schedulers of other people may decide
    by anything.
    """
    if not all(map(is_own_scheduler, (inputs.scheduler, environment.scheduler))):
        return ""
    options = inputs.model_dump_json(exclude=set(PER_RUN))
    text = f"{code_digest()}\n{options}\n{environment}"
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _result(inputs: ScheduleInputs, context: CommandContext) -> CommandResult | None:
    environment = context.environment(inputs.environment, context.environments())
    # The other documents of these commits had no problems when that run read them.
    read, problems, warnings = read_inputs(context, [environment], kinds=NAMING_REPOSITORIES)
    if problems or warnings:
        return None
    (now,) = read
    # Strictly our own: a record of another account must not keep a run from its work.
    status = own_statuses(context, now.head).get(schedule_context(environment.name).lower())
    record = read_record(status)
    run = run_digest(inputs, environment)
    if status is None or not is_at_rest(record, now.digest, run, context.runtime.now()):
        return None
    document = ScheduleDocument(
        environment=environment.name,
        assignments=record.assignments,
        requeue_time=f"{record.again_at:{TIME}}" if record.again_at else "",
    )
    facts = ScheduleFacts(
        main=CommitLink.on(context.url(context.control_plane), now.promoted_commit),
        branches=[f"{branch.repository}@{branch.branch}" for branch in now.branches],
        earlier_run=status.target_url,
    )
    context.runtime.log(f"{environment.name}: nothing has moved since {status.target_url}.")
    return CommandResult(document, schedule_summary(document, facts))
