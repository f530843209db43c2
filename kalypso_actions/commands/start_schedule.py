"""`kalypso start-schedule`: start schedule for a push to an environment's branch."""

from __future__ import annotations

from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.chain import StartScheduleInputs
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.writes import StartWorkflow
from kalypso_actions.promotion.starts import schedule_start
from kalypso_actions.report.chain_document import (
    StartScheduleDocument,
    start_schedule_headline,
    start_schedule_summary,
)
from kalypso_actions.report.documents import ProblemEntry


def start_schedule(inputs: StartScheduleInputs, context: CommandContext) -> CommandResult:
    """Start schedule for every environment that a branch of the control plane belongs to.

    Our own branches, and other branches without an environment, start nothing. Raises UsageError
    without a branch, KalypsoError if main cannot be read.
    """
    branch = inputs.branch or context.runtime.job.branch
    if not branch:
        raise UsageError(
            "branch is needed", advice="outside of a job that a push has started, name it"
        )
    is_own = branch.startswith(OWN_BRANCHES)
    names = [] if is_own else _environments_of(context, branch)
    head, problems = _head(context, branch) if names else ("", [])
    writes = [
        schedule_start(
            context.control_plane,
            inputs.schedule_workflow,
            environment=name,
            environment_commit=head,
        )
        for name in names
        if head
    ]
    if inputs.dry_run:
        document = StartScheduleDocument(branch=branch, problems=ProblemEntry.all_of(problems))
        return dry_run_result("start-schedule", document, writes, context)
    done = carry_out(writes, context, Done((StartWorkflow,), problems=problems))
    started = done.started()
    document = StartScheduleDocument(
        branch=branch,
        environments=tuple(started),
        problems=ProblemEntry.all_of(done.problems),
    )
    context.runtime.log(f"{start_schedule_headline(document, is_own=is_own)}.")
    page = start_schedule_summary(document, started, is_own=is_own)
    return CommandResult(document, page, failed=bool(done.problems))


def _head(context: CommandContext, branch: str) -> tuple[str, list[Problem]]:
    """Return the head of a branch of the control plane; "" and a problem if it is gone."""
    url = context.url(context.control_plane)
    head = context.remotes.heads(url, [branch]).get(branch, "")
    missing = Problem(f"there is no branch {branch!r}", Location(url), "name another one")
    return head, [] if head else [missing]


def _environments_of(context: CommandContext, branch: str) -> list[str]:
    """Return the names of the environments on a branch."""
    environments = context.environments().values()
    return [item.name for item in environments if item.control_plane.branch == branch]
