"""Write a commit of main to an environment's branch, or propose it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import commits, viewer
from kalypso_actions.commands.cd.rollback_check import RollbackCheck
from kalypso_actions.commands.shared.auto_merge import auto_merge_warnings, read_auto_merges
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch, EnvironmentState
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.cd import CdInputs
from kalypso_actions.model.github import ON_BRANCH, PullRequest, Relation
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.model.writes import DisableAutoMerge
from kalypso_actions.promotion.cd_decision import Advance, advance, expected_commit
from kalypso_actions.promotion.rollbacks import Rollback

DELAYS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds before each new attempt after somebody else moved the branch."""

HOOK: Final = "pre-deployment"


@dataclass(frozen=True, slots=True)
class Promoted:
    """The outcome of cd for the commit; `action` is "" if the pre-deployment command failed.

    rejected    people closed the pull request (`pull`) with the commit

    `before` is the commit that the environment had or was about to have, `replaced` the one that
    this commit replaces, `environment_commit` the commit of the environment's branch that names
    this commit. `rollback`: why the commit is superseded, if not by a newer commit. `warnings` are
    about auto-merges that are off, or may still be enabled.
    """

    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", ""]
    before: str | None
    replaced: str | None = None
    changed: bool = False
    environment_commit: str = ""
    pull: PullRequest | None = None
    hook: HookRun | None = None
    rollback: Rollback | None = None
    warnings: Sequence[Problem] = ()


def promote(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch, main: str
) -> Promoted:
    """Write or propose the commit, unless the environment has a newer one or people rejected it.

    The pre-deployment command runs once, and only before a write. After it, and after somebody else
    moved the branch, read everything and decide again. Raises UsageError for a commit that is not
    on main, or is older than the environment's without allow-rollback.
    """
    _check_on_main(context, inputs.commit, main)
    warnings: list[Problem] = []
    promoted = _promote(inputs, context, branch, main, warnings)
    return replace(promoted, warnings=tuple(dict.fromkeys(warnings)))


def _promote(
    inputs: CdInputs,
    context: CommandContext,
    branch: EnvironmentBranch,
    main: str,
    warnings: list[Problem],
) -> Promoted:
    """Do the work of `promote`, again after each conflict with another job; add to `warnings`."""
    hook: HookRun | None = None
    delays = iter(DELAYS)
    rollback_check = RollbackCheck(inputs, context)
    while True:
        state = branch.read(proposals=inputs.mode == "pull-request")
        before, decision = _decide(inputs, context, state, main)
        if decision.action == "superseded":
            branch.complete(state)
            return Promoted("superseded", before, hook=hook)
        if decision.action == "unchanged":
            return _unchanged(branch, state, before, hook)
        rejected = _rejected(inputs, branch, state)
        if rejected:
            return Promoted("rejected", before, hook=hook, pull=rejected)
        rollback = rollback_check.find(state)
        if rollback:
            return Promoted("superseded", before, hook=hook, rollback=rollback)
        if hook is None and inputs.pre_deployment and not state.brings(inputs.commit):
            hook = _run_hook(inputs, context, before)
            if hook.failed:
                return Promoted("", before, hook=hook)
            continue  # the command may take an hour, in which people may promote another commit
        goes_back = decision.rollback and inputs.mode == "commit"
        warnings += _disable_auto_merges(inputs, context) if goes_back else ()
        try:
            return _write(inputs, branch, state, before, hook)
        except PushConflictError as conflict:
            delay = next(delays, None)
            if delay is None:
                raise
            context.runtime.log(f"{conflict.problem.message}; looking again in {delay:g} s")
            context.runtime.sleep(delay)


def check_promotable(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch, main: str
) -> None:
    """Raise UsageError if `promote` would refuse the commit; write nothing.

    Pull requests do not matter: they only delay a commit.
    """
    _check_on_main(context, inputs.commit, main)
    _decide(inputs, context, branch.read(proposals=False), main)


def _check_on_main(context: CommandContext, commit: str, main: str) -> None:
    if not _is_on(context, main, commit):
        raise UsageError(
            f"the commit {commit} is not on {main}",
            Location(context.url(context.control_plane)),
            f"promote a commit of {main}; merge other commits to it first",
        )


def _is_on(context: CommandContext, main: str, commit: str) -> bool:
    relation = commits.relation(context.github, context.control_plane, commit, main)
    return relation in ON_BRANCH


def _decide(
    inputs: CdInputs, context: CommandContext, state: EnvironmentState, main: str
) -> tuple[str | None, Advance]:
    """Return the commit that the environment has or is about to have, and the decision."""
    current = state.base.promoted_commit
    proposed = state.proposal.promoted_commit if state.proposal else None
    before = current
    if proposed and inputs.commit not in {current, proposed}:
        to_current = _relation(context, current, proposed, main) if current else None
        before = expected_commit(current, proposed, to_current)
    relation: Relation | None = None
    if before and before != inputs.commit:
        relation = _relation(context, before, inputs.commit, main)
    return before, advance(
        before,
        inputs.commit,
        relation=relation,
        promoted_from=inputs.promoted_from,
        allow_rollback=inputs.allow_rollback,
    )


def _relation(context: CommandContext, base: str, commit: str, main: str) -> Relation | None:
    """Return the relation of a commit to `base`; None if `base` is not on main."""
    relation = commits.relation(context.github, context.control_plane, base, commit)
    if relation in {None, "ahead"} or _is_on(context, main, base):
        return relation
    return None


def _rejected(
    inputs: CdInputs, branch: EnvironmentBranch, state: EnvironmentState
) -> PullRequest | None:
    """Return the pull request with which people rejected the commit.

    Only a person may propose it again; an open pull request shows that a person did.
    """
    is_open = state.proposal is not None and state.proposal.promoted_commit == inputs.commit
    if inputs.mode != "pull-request" or not inputs.promoted_from or is_open:
        return None
    return branch.rejected(inputs.commit)


def _run_hook(inputs: CdInputs, context: CommandContext, before: str | None) -> HookRun:
    about = {
        "environment": inputs.environment,
        "commit": inputs.commit,
        "previous_commit": before or "",
        "promoted_from": inputs.promoted_from,
        "control_plane": context.control_plane,
    }
    return run_hook(HOOK, inputs.pre_deployment, context.runtime, about)


def _disable_auto_merges(inputs: CdInputs, context: CommandContext) -> Sequence[Problem]:
    """Keep GitHub from merging a newer commit until schedule runs; return warnings.

    A job's own token cannot access GitOps repositories; with it, leave auto-merges to schedule.
    """
    if viewer.identity(context.github, context.control_plane).login == JOBS:
        return ()
    ends, problems = read_auto_merges(inputs.environment, context, of_people=True)
    done = carry_out(ends, context, goes_on_after=(DisableAutoMerge,))
    return (*problems, *auto_merge_warnings(done, context))


def _unchanged(
    branch: EnvironmentBranch, state: EnvironmentState, before: str | None, hook: HookRun | None
) -> Promoted:
    """Complete the work of an earlier run, which wrote the commit."""
    branch.withdraw_empty(state)
    return Promoted(
        "unchanged",
        before,
        replaced=branch.before(state),
        environment_commit=state.head,
        hook=hook,
    )


def _write(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    state: EnvironmentState,
    before: str | None,
    hook: HookRun | None,
) -> Promoted:
    if inputs.mode == "commit":
        made = branch.write(state, inputs.commit, inputs.commit_by)
        return Promoted("written", before, before, changed=True, environment_commit=made, hook=hook)
    pull, changed = branch.propose(state, inputs.commit, inputs.commit_by)
    replaced = state.proposal.instead_of(inputs.commit) if state.proposal else None
    return Promoted("proposed", before, replaced, changed=changed, pull=pull, hook=hook)
