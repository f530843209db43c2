"""A full run of schedule, from its first read to its last write.

    read → plan → decide → end auto-merges → details → writes → carry out → document

reading    the environment, and what GitHub knows of the proposals to its GitOps branches
decision   a proposal for each GitOps branch
details    what the writes say: commits and values that arrive, issues, lost starts
writes     the writes, in the order in which they are carried out
document   what was done

What happens if …

- main or the environment's branch moves during the run, somebody changes files of the environment
  in a GitOps branch, or another run of schedule pushes first: a condition among the writes fails,
  or the push does, before anything is merged. Everything is read again, in at most `ATTEMPTS`
  attempts; then the run fails. The branch of an application is not checked: this run uses the
  commit that it has read, and poll starts schedule for the next one.
- the repository of a registration cannot be read: planning takes its last good commit or, without
  one, keeps the folders of its targets, with a warning and an issue. With `on-source-failure:
  block`, nothing is proposed, and the run fails.
- two GitOpsRepos differ: each has a proposal of its own. A branch that already has its content
  gets no pull request, and an open one is closed. The others are all pushed before the first pull
  request is opened, and all are open before the first one is merged. Two that name one tree are a
  problem, and the run ends before it plans.
- GitHub refuses a merge: a refusal is the result of this write and no error. The pull request
  stays open with a warning, the other merges and writes follow, and the run succeeds. poll starts
  schedule again when the state of the pull request has changed.
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.commands.schedule.decision import decide
from kalypso_actions.commands.schedule.details import read_details
from kalypso_actions.commands.schedule.document import (
    schedule_document,
    schedule_record,
    schedule_result,
)
from kalypso_actions.commands.schedule.reading import (
    main_position,
    plan_environment,
    read_everything,
    read_proposals,
    with_closed,
)
from kalypso_actions.commands.schedule.writes import ScheduleRun, ScheduleWrites, auto_merge_ends
from kalypso_actions.commands.shared.auto_merge import disabled_on_failure, warnings_of_ended
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_proposals import while_others_write
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Problem
from kalypso_actions.fleet.named_branches import foreign_commits
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.writes import (
    CloseIssue,
    PostStatus,
    RecordTrees,
    StartWorkflow,
    WriteIssue,
)

SECONDARY: Final = (RecordTrees, StartWorkflow, WriteIssue, CloseIssue, PostStatus)
"""The writes without which the proposals stand: their refusal is a problem, and the run goes on."""


def run_in_full(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    """Render an environment and propose its tree; see `command.schedule`."""
    job, control_plane = context.runtime.job, context.control_plane
    run = ScheduleRun(inputs, control_plane, context.url(control_plane), job.actor, job.run_url)
    warnings: list[Problem] = []
    return while_others_write(lambda: _attempt(run, context, warnings), context)


def _attempt(run: ScheduleRun, context: CommandContext, warnings: list[Problem]) -> CommandResult:
    """Run schedule once; add to `warnings` the auto-merges of people that this run disables.

    Raises PushConflictError and MovedError if others have moved a branch.
    """
    inputs = run.inputs
    # GitHub must not merge an old proposal while the run cannot say what the new one is.
    with disabled_on_failure(inputs, context):
        snapshot = read_everything(inputs, context)
        snapshot, plan = plan_environment(snapshot, inputs, context)
        snapshot = with_closed(snapshot, plan, context)
        known = read_proposals(snapshot, plan, context)
        decision = decide(snapshot, plan, known, inputs, run.control_plane)
        ends = auto_merge_ends(decision, run.control_plane)
        if not inputs.dry_run:
            warnings += warnings_of_ended(carry_out(ends, context), context)
    position = main_position(snapshot.sources, context)
    details = read_details(decision, position, inputs.mask, context)
    writes = ScheduleWrites(run, decision, details).in_order()
    record = schedule_record(decision, details, run)
    if inputs.dry_run:
        document = schedule_document(decision, details, None, Done())
        return dry_run_result("schedule", document, (*ends, *writes, *record), context)
    foreign = [*foreign_commits(snapshot.sources.bases, position)]
    done = Done(goes_on_after=SECONDARY, warnings=[*warnings, *foreign])
    carry_out((*writes, *record), context, done)
    document = schedule_document(decision, details, position, done)
    return schedule_result(document, decision, done, run, context)
