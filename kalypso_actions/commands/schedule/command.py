"""`kalypso schedule`: what an environment is to have is proposed to its GitOps repositories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_snapshot import (
    EnvironmentSnapshot,
    MovedError,
    check_base_branches,
    check_own_branches,
    check_unmoved,
    read_everything,
)
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.commands.schedule.issues import keep_issues
from kalypso_actions.commands.schedule.propose import Proposition, prepare
from kalypso_actions.commands.schedule.publish import merge, publish, push, withdraw
from kalypso_actions.commands.schedule.record import record_schedule
from kalypso_actions.commands.schedule.result import Results, commit_link, told
from kalypso_actions.commands.schedule.start_checks import start_after_merge, start_lost
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.plan import Plan, PlanOptions, make_plan
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.pull_request import PullRequestText
from kalypso_actions.scheduling import find_scheduler

ATTEMPTS: Final = 6
"""After a lost race everything is read again: the other run may have older inputs."""


def schedule(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    """Render an environment and propose its tree: one pull request for each GitOpsRepo.

    Run again, or by several jobs at once, it comes to the same: what is proposed already is left
    alone. Nothing is written before everything has been read. Raises KalypsoError where the control
    plane or a GitOps branch cannot be read, or others change them all the time.
    """
    attempts = ATTEMPTS
    while True:
        attempts -= 1
        try:
            return _attempt(inputs, context)
        except (PushConflictError, MovedError) as error:
            if not attempts:
                raise
            context.runtime.log(f"{error.problem.message}; everything is read again")
            context.runtime.sleep(1)
            context.remotes.look_again()


def _attempt(inputs: ScheduleInputs, context: CommandContext) -> CommandResult:
    read = read_everything(inputs, context)
    plan = make_plan(read.sources, _options(inputs), find_scheduler(), context.runtime.progress)
    results = Results(list(plan.warnings), list(plan.problems))
    propositions: Sequence[Proposition] = ()
    if not plan.faults:
        # What a failing assignment should have is not known: nothing is proposed, where it blocks.
        if not plan.problems:
            propositions = list(_prepared(read, plan, inputs, context))
        _guard(plan, propositions, inputs, results)
        if not results.removed:
            check_unmoved(read, context)
            _propose(propositions, read, plan, inputs, context, results)
            with results.not_losing():
                repository = read.states[0].repository
                results.warnings += keep_issues(repository, plan, read.sources, context)
    with results.not_losing():
        record_schedule(read, plan, results, context)
    branches = [f"{state.repository}@{state.branch}" for state in read.states]
    return told(results, plan, branches, propositions, context)


def _options(inputs: ScheduleInputs) -> PlanOptions:
    return PlanOptions(
        namespace_scheme=inputs.namespace_scheme,
        config_file=inputs.config_file,
        on_failure=inputs.on_failure,
        on_source_failure=inputs.on_source_failure,
        max_removal_percent=inputs.max_removal_percent,
    )


def _prepared(
    read: EnvironmentSnapshot, plan: Plan, inputs: ScheduleInputs, context: CommandContext
) -> Iterator[Proposition]:
    for state, changes in zip(read.states, plan.trees, strict=True):
        yield prepare(state, changes, plan, read, inputs, context)


def _guard(
    plan: Plan, propositions: Sequence[Proposition], inputs: ScheduleInputs, results: Results
) -> None:
    """Let a mass removal end the run, unless it is allowed.

    One that is proposed already was allowed then: where nothing is written, nothing is asked.
    """
    removed: dict[str, None] = {}
    for index, removal in enumerate(plan.removals):
        writes = not propositions or propositions[index].writes
        if removal and writes and not inputs.allow_removals:
            advice = "if that is wanted, run schedule with allow-removals"
            results.warnings.remove(removal)
            results.problems.append(Problem(removal.message, removal.where, advice))
            removed |= dict.fromkeys(plan.trees[index].removed_folders)
    results.removed = tuple(removed)


def _propose(
    propositions: Sequence[Proposition],
    read: EnvironmentSnapshot,
    plan: Plan,
    inputs: ScheduleInputs,
    context: CommandContext,
    results: Results,
) -> None:
    """Write every proposition. Our branches come first: only there others can be faster."""
    proposed = [one for one in propositions if one.is_proposed]
    commits = [push(one, context) for one in proposed]
    published = [
        publish(one, _text(one, commit, read, plan, inputs, context), inputs, context)
        for one, commit in zip(proposed, commits, strict=True)
    ]
    withdrawn = [
        entry for one in propositions for entry in withdraw(one, plan.environment, context)
    ]
    if withdrawn or any(one.entry.action != "unchanged" for one in published):
        heads = {one.state.name: commit for one, commit in zip(proposed, commits, strict=True)}
        check_own_branches(heads, read, context)
        check_base_branches(((one.state, one.changes) for one in proposed), context)
    for one in published:
        merged = merge(one, context)
        results.add(merged)
        if merged.merge_commit:
            with results.not_losing():
                results.started.append(start_after_merge(merged, read.sources, inputs, context))
    results.entries += withdrawn
    for proposition in propositions:
        results.warnings += proposition.warnings()
    with results.not_losing():
        results.started += start_lost(propositions, read.sources, inputs, context)


def _text(
    proposition: Proposition,
    commit: str,
    read: EnvironmentSnapshot,
    plan: Plan,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> PullRequestText:
    index = read.states.index(proposition.state)
    allowed = plan.removals[index] and inputs.allow_removals
    return PullRequestText(
        environment=plan.environment,
        commit=commit,
        assignments=len(plan.assignments),
        changes=proposition.changes,
        folder=proposition.state.tree.path,
        main=commit_link(plan.promoted_commit, context),
        before=commit_link(proposition.proposed.base_tracking, context),
        promoted=proposition.promoted,
        auto_merge=proposition.merged_by,
        allowed_by=(context.runtime.job.actor or "Somebody") if allowed else "",
        registrations=read.sources.registrations,
        again=proposition.decision.again,
        others=proposition.others,
        warnings=ProblemEntry.all_of(one for one in plan.warnings if one not in plan.removals),
    )
