"""A full run of schedule: read everything, plan, propose, record."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.installed_code import code_digest
from kalypso_actions.commands.schedule.arrivals import arrivals
from kalypso_actions.commands.schedule.at_rest import left_nothing, run_digest
from kalypso_actions.commands.schedule.auto_merge import disable_auto_merges, disabled_on_failure
from kalypso_actions.commands.schedule.commit_link import commit_link
from kalypso_actions.commands.schedule.issues import update_issues
from kalypso_actions.commands.schedule.lookups import Lookups
from kalypso_actions.commands.schedule.propose import ProposalPlan, plan_proposal
from kalypso_actions.commands.schedule.publish import (
    merge,
    publish,
    push,
    record_pushed_trees,
    start_after_merge,
    start_lost_checks,
    withdraw,
)
from kalypso_actions.commands.schedule.read import (
    EnvironmentSnapshot,
    MovedError,
    check_base_branches,
    check_own_branches,
    check_unmoved,
    main_position,
    read_everything,
)
from kalypso_actions.commands.schedule.result import (
    Results,
    build_result,
    record_schedule,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.processes import WriteBlobs
from kalypso_actions.planning.fleet_checks import FleetView
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.plan_checks import judged, scope_of
from kalypso_actions.report.documents import LeftOutEntry, ProblemEntry
from kalypso_actions.report.pull_request import PullRequestText

ATTEMPTS: Final = 6
"""The most attempts: after a conflict, read everything again, because the other run may have older
inputs."""


def run_in_full(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    """Render an environment and propose its tree; see `command.schedule`.

    It reads everything before it writes anything. Raises KalypsoError if the control plane or a
    GitOps branch cannot be read, or others keep changing them.
    """
    attempts = ATTEMPTS
    disabled: list[Problem] = []
    while True:
        attempts -= 1
        try:
            return _attempt(inputs, context, disabled)
        except (PushConflictError, MovedError) as error:
            if not attempts:
                raise
            context.runtime.log(f"{error.problem.message}; everything is read again")
            context.runtime.sleep(1)
            context.remotes.forget_heads()


def _attempt(
    inputs: ScheduleInputs, context: CommandContext, disabled: list[Problem]
) -> CommandResult:
    """Run schedule once; add to `disabled` the auto-merges of people that this run disables."""
    with disabled_on_failure(inputs.environment, context):
        read = read_everything(inputs, context)
        sources, plan = plan_registrations(
            read.sources,
            PlanOptions.of(inputs, code=code_digest()),
            context.reader,
            context.runtime.progress,
            _blob_writer(read, context),
        )
        read = dataclasses.replace(read, sources=sources)
        if taken_over := len(plan.changes.taken_over):
            total = len(plan.assignments)
            context.runtime.log(f"{taken_over} of {total} assignments have the inputs of the tree")
        plan = judged(plan, read.sources, _view(plan, read))
        # If a failing assignment blocks, its desired files are unknown: propose nothing.
        proposals = (
            []
            if plan.faults or plan.problems
            else [
                plan_proposal(state, changes, plan, read, inputs, context)
                for state, changes in zip(read.states, plan.trees, strict=True)
            ]
        )
        results = Results(list(plan.warnings), list(plan.problems))
        if plan.faults:
            results.warnings += filter(None, plan.mass_removals)
        else:
            _check_removals(plan, proposals, inputs, results)
        is_blocked = bool(plan.faults or plan.problems or results.removed)
        disabled.extend(disable_auto_merges(read, () if is_blocked else proposals, context))
        results.warnings += disabled
    if not (plan.faults or results.removed):
        check_unmoved(read, context)
        _propose(proposals, read, plan, inputs, context, results)
        with results.collecting_refusals():
            repository = read.states[0].repository
            results.warnings += update_issues(
                repository, plan, read.sources, inputs.max_issues, context
            )
    with results.collecting_refusals():
        is_left = is_blocked or not left_nothing(plan, proposals, results)
        run = "" if is_left else run_digest(inputs, read.environment)
        record_schedule(read, plan, proposals, results, context, force=inputs.force, run=run)
    branches = [f"{state.repository}@{state.branch}" for state in read.states]
    return build_result(results, plan, branches, proposals, main_position(read, context), context)


def _view(plan: Plan, read: EnvironmentSnapshot) -> FleetView:
    """Return the environment alone: ci judges the objects of main, over all environments."""
    scope = scope_of(plan, read.sources)
    return FleetView((scope,) if scope else (), read.environments)


def _blob_writer(read: EnvironmentSnapshot, context: CommandContext) -> WriteBlobs | None:
    """Return the function that writes files into the clone of the only GitOps repository.

    Return None for several repositories.
    """
    urls = {state.url for state in read.states}
    return context.remotes.blob_writer(*urls) if len(urls) == 1 else None


def _check_removals(
    plan: Plan, proposals: Sequence[ProposalPlan], inputs: ScheduleInputs, results: Results
) -> None:
    """Add each mass removal to the results, as a warning or as a problem that stops the run."""
    removed: dict[str, None] = {}
    for index, removal in enumerate(plan.mass_removals):
        if removal is None:
            continue
        writes = not proposals or proposals[index].writes
        if gitops.is_blocked(removal, writes=writes, allow_removals=inputs.allow_removals):
            advice = "if that is wanted, run schedule with allow-removals"
            results.problems.append(Problem(removal.message, removal.where, advice))
            removed |= dict.fromkeys(plan.trees[index].removed_folders)
        else:
            results.warnings.append(removal)
    results.removed = tuple(removed)


def _propose(
    proposals: Sequence[ProposalPlan],
    read: EnvironmentSnapshot,
    plan: Plan,
    inputs: ScheduleInputs,
    context: CommandContext,
    results: Results,
) -> None:
    """Write every proposal. Push our branches first: only pushes can conflict with other runs."""
    open_proposals = [proposal for proposal in proposals if proposal.is_open]
    commits = [push(proposal, inputs, context) for proposal in open_proposals]
    with results.collecting_refusals():
        record_pushed_trees(zip(open_proposals, commits, strict=True), read, context)
    lookups = Lookups(context)
    published = [
        publish(proposal, _text(proposal, commit, read, plan, inputs, lookups), inputs, context)
        for proposal, commit in zip(open_proposals, commits, strict=True)
    ]
    withdrawn = [
        entry for proposal in proposals for entry in withdraw(proposal, plan.environment, context)
    ]
    if withdrawn or any(item.entry.action != "unchanged" for item in published):
        heads = {
            proposal.state.name: commit
            for proposal, commit in zip(open_proposals, commits, strict=True)
        }
        check_own_branches(heads, read, context)
        check_base_branches(((item.state, item.changes) for item in open_proposals), context)
    for item in published:
        merged = merge(item, context)
        results.add(merged)
        if merged.merge_commit:
            with results.collecting_refusals():
                results.started.append(start_after_merge(merged, read.sources, inputs, context))
    results.entries += withdrawn
    for proposal in proposals:
        results.warnings += proposal.warnings()
    with results.collecting_refusals():
        results.started += start_lost_checks(proposals, read.sources, inputs, context)


def _text(
    proposal: ProposalPlan,
    commit: str,
    read: EnvironmentSnapshot,
    plan: Plan,
    inputs: ScheduleInputs,
    lookups: Lookups,
) -> PullRequestText:
    context = lookups.context
    index = read.states.index(proposal.state)
    allowed = plan.mass_removals[index] and inputs.allow_removals
    brought = arrivals(proposal, read, plan, lookups, inputs.mask) if proposal.writes else None
    return PullRequestText(
        control_plane=context.control_plane,
        environment=plan.environment,
        commit=commit,
        assignments=len(plan.assignments),
        changes=proposal.changes,
        folder=proposal.state.tree.path,
        main=commit_link(plan.promoted_commit, context),
        before=commit_link(proposal.proposal.branch_promoted_commit, context),
        promoted=proposal.proposal.is_promotion,
        auto_merge=proposal.merged_by,
        allowed_by=(context.runtime.job.actor or "Somebody") if allowed else "",
        left_out=LeftOutEntry.all_of(plan.left_out),
        again=proposal.decision.again,
        others=proposal.other_pulls,
        warnings=ProblemEntry.all_of(plan.warnings),
        commits=brought.commits if brought else (),
        comparison=brought.comparison if brought else None,
    )
