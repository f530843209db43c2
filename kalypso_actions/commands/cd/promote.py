"""A commit of main on its way into an environment's branch, against whoever writes there too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import commits
from kalypso_actions.commands.cd.rollback_check import Rollback, RollbackCheck
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_branch import EnvironmentBranch, EnvironmentState
from kalypso_actions.commands.runtime.hook import HookRun, run_hook
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.github import PullRequest, Relation
from kalypso_actions.promotion import Advance, advance
from kalypso_actions.promotion.advance import about_to_have

DELAYS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds before each new attempt where somebody else has moved the branch meanwhile."""

HOOK: Final = "pre-deployment"


@dataclass(frozen=True, slots=True)
class Promoted:
    """What has become of the commit; `action` is "" where the pre-deployment command stopped it.

    rejected    people have closed the pull request (`pull`) that brought it

    `before`: the commit that the environment had, or was about to have. `replaced`: the one whose
    way to the environment ends with this. `environment_commit`: that of the environment's branch
    which has the commit. `withheld`: why a commit is superseded that no newer one came before.
    """

    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", ""]
    before: str | None
    replaced: str | None = None
    changed: bool = False
    environment_commit: str = ""
    pull: PullRequest | None = None
    hook: HookRun | None = None
    withheld: Rollback | None = None


def promote(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch, main: str
) -> Promoted:
    """Bring the commit to the environment as far as it is to get there.

    Where somebody else moves the branch meanwhile, it is read and decided again; and so it is after
    the pre-deployment command, which runs once, and only before a write. Raises UsageError for a
    commit that is not on main, or goes back without being told so.
    """
    _check_on_main(context, inputs.commit, main)
    hook: HookRun | None = None
    delays = iter(DELAYS)
    withholding = RollbackCheck(inputs, context)
    while True:
        standing = branch.read(proposals=inputs.mode == "pull-request")
        before, decision = _decide(inputs, context, standing, main)
        if decision.action == "superseded":
            return Promoted("superseded", before, hook=hook)
        if decision.action == "unchanged":
            return _unchanged(branch, standing, before, hook)
        rejected = _rejected(inputs, branch, standing)
        if rejected:
            return Promoted("rejected", before, hook=hook, pull=rejected)
        withheld = withholding.look(standing)
        if withheld:
            return Promoted("superseded", before, hook=hook, withheld=withheld)
        if hook is None and inputs.pre_deployment and not standing.brings(inputs.commit):
            hook = _run_hook(inputs, context, before)
            if hook.failed:
                return Promoted("", before, hook=hook)
            continue  # it may take an hour, in which people change their minds
        try:
            return _write(inputs, branch, standing, before, hook)
        except PushConflictError as raced:
            delay = next(delays, None)
            if delay is None:
                raise
            context.runtime.log(f"{raced.problem.message}; looking again in {delay:g} s")
            context.runtime.sleep(delay)


def check_promotable(
    inputs: CdInputs, context: CommandContext, branch: EnvironmentBranch, main: str
) -> None:
    """Raise UsageError where `promote` would refuse the commit; nothing is written.

    Pull requests are not looked at: what is refused without them is refused with them, too.
    """
    _check_on_main(context, inputs.commit, main)
    _decide(inputs, context, branch.read(proposals=False), main)


def _check_on_main(context: CommandContext, commit: str, main: str) -> None:
    if not _is_on(context, main, commit):
        raise UsageError(
            f"the commit {commit} is not on {main}",
            Location(context.url(context.control_plane)),
            f"promote a commit of {main}; others have to be merged to it before",
        )


def _is_on(context: CommandContext, main: str, commit: str) -> bool:
    found = commits.relation(context.github, context.control_plane, commit, main)
    return found in {"ahead", "identical"}


def _decide(
    inputs: CdInputs, context: CommandContext, standing: EnvironmentState, main: str
) -> tuple[str | None, Advance]:
    """What the commit is held against, and what is to be done with it."""
    current = standing.base.commit
    proposed = standing.proposal.commit if standing.proposal else None
    before = current
    if proposed and inputs.commit not in {current, proposed}:
        stands = _relation(context, current, proposed, main) if current else None
        before = about_to_have(current, proposed, stands)
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
    """How the commit stands to another one; None where that is not on main."""
    found = commits.relation(context.github, context.control_plane, base, commit)
    if found in {None, "ahead"} or _is_on(context, main, base):
        return found
    return None


def _rejected(
    inputs: CdInputs, branch: EnvironmentBranch, standing: EnvironmentState
) -> PullRequest | None:
    """The pull request by which people have refused the commit: only a person proposes it again.

    What is open in spite of that, a person has proposed again.
    """
    is_open = standing.proposal is not None and standing.proposal.commit == inputs.commit
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


def _unchanged(
    branch: EnvironmentBranch, standing: EnvironmentState, before: str | None, hook: HookRun | None
) -> Promoted:
    """The commit is there; an earlier run may not have come to what belongs to that."""
    branch.withdraw_empty(standing)
    return Promoted(
        "unchanged",
        before,
        replaced=branch.before(standing),
        environment_commit=standing.head,
        hook=hook,
    )


def _write(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    standing: EnvironmentState,
    before: str | None,
    hook: HookRun | None,
) -> Promoted:
    if inputs.mode == "commit":
        made = branch.write(standing, inputs.commit)
        return Promoted("written", before, before, changed=True, environment_commit=made, hook=hook)
    pull, changed = branch.propose(standing, inputs.commit)
    replaced = standing.proposal.instead_of(inputs.commit) if standing.proposal else None
    return Promoted("proposed", before, replaced, changed=changed, pull=pull, hook=hook)
