"""Read what cd decides from: the environment's branch, and what people have rejected or undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kalypso_actions.clients.github import commits, pull_requests
from kalypso_actions.commands.cd.read_back import changes_for
from kalypso_actions.commands.shared.auto_merge import read_auto_merges
from kalypso_actions.commands.shared.context import CommandContext, person_of
from kalypso_actions.commands.shared.environment_branch import (
    EnvironmentBranch,
    base_at,
    read_head,
    read_promotion,
    rolled_back_to,
)
from kalypso_actions.commands.shared.labels import WITHDRAWN
from kalypso_actions.commands.shared.policy_entry import policy_of, read_verdict, statuses_between
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.github import ON_BRANCH, PullRequest, Relation
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.model.writes import DisableAutoMerge
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.cd_decision import (
    Advance,
    Rollback,
    advance,
    expected_commit,
    has_left,
    rollback_of,
    rollback_of_origin,
    unknown_origin,
)
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.policy import LETS_IN, PolicyVerdict

CdAction = Literal["written", "proposed", "unchanged", "superseded", "rejected", "waiting"]


@dataclass(frozen=True, slots=True)
class CdReading:
    """The environment's branch at one moment, and what that means for the commit.

    `before` is the commit that the environment has or is about to have, `replaced` the one that
    this commit replaces, with the relation of the new commit to it. `rejected` is the pull request
    with which people rejected the commit; `rollback` says why the commit is superseded, if not by a
    newer commit. `changes` are the files to push, from which schedule reads the commit.
    `auto_merges` must not stay enabled. `problems` are warnings about what cannot be read.
    `verdict` is that of the environment's policy at the branch's head, and `overridden` whether a
    person passes over it; `waiting` are older commits that wait for the policy or for cd, and never
    enter behind this one.
    """

    branch: EnvironmentBranch
    before: str | None
    advance: Advance
    rejected: PullRequest | None = None
    rollback: Rollback | None = None
    replaced: str | None = None
    relation: Relation | None = None
    changes: Mapping[str, bytes] = field(default_factory=dict)
    auto_merges: tuple[DisableAutoMerge, ...] = ()
    problems: Sequence[Problem] = ()
    verdict: PolicyVerdict = LETS_IN
    overridden: bool = False
    waiting: tuple[str, ...] = ()
    has_policy: bool = False

    @property
    def waits(self) -> bool:
        """Whether the policy keeps the commit out."""
        return not (self.verdict.is_fulfilled or self.overridden)

    def action(self, mode: Literal["commit", "pull-request"]) -> CdAction:
        """Return what cd does."""
        if self.advance.action != "write":
            return self.advance.action
        if self.rejected:
            return "rejected"
        if self.rollback:
            return "superseded"
        if self.waits:
            return "waiting"
        return "written" if mode == "commit" else "proposed"


def check_on_main(commit: str, main: str, context: CommandContext) -> None:
    """Raise UsageError if a commit is not on main."""
    if not _is_on(commit, main, context):
        raise UsageError(
            f"the commit {commit} is not on {main}",
            Location(context.url(context.control_plane)),
            f"promote a commit of {main}; merge other commits to it first",
        )


def read_facts(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    main: str,
    context: CommandContext,
) -> CdReading:
    """Read the branch, and as much of what people did as the decision needs.

    Raises UsageError for a commit that is older than the environment's without allow-rollback, and
    KalypsoError if schedule would not read the commit from the branch.
    """
    facts = read_advance(inputs, branch, main, context, proposals=inputs.mode == "pull-request")
    branch, commit = facts.branch, inputs.commit
    if facts.advance.action == "superseded":
        return facts
    if facts.advance.action == "unchanged":
        return _with_replaced(facts, _before_newest(branch, context), commit, context)
    facts = replace(
        facts,
        rejected=_rejected(inputs, branch, context),
        rollback=_rollback(inputs, branch, environments, context),
    )
    if facts.rejected or facts.rollback:
        return facts
    facts = with_verdict(inputs, facts, environments, context)
    return facts if facts.waits else _with_writes(inputs, facts, main, context)


def _with_writes(
    inputs: CdInputs, facts: CdReading, main: str, context: CommandContext
) -> CdReading:
    """Read what a write of the commit needs, and what it replaces."""
    branch, commit = facts.branch, inputs.commit
    warnings: tuple[Problem, ...] = ()
    if not branch.brings(commit) or inputs.mode == "commit":
        changes, warnings = changes_for(commit, branch, main, context)
        facts = replace(facts, changes=changes, problems=warnings)
    if inputs.mode == "pull-request":
        replaced = branch.proposal.instead_of(commit) if branch.proposal else None
        return _with_replaced(facts, replaced, commit, context)
    facts = _with_replaced(facts, facts.before, commit, context)
    # A job's own token cannot access GitOps repositories; with it, schedule disables auto-merges.
    is_job = context.github.identity(context.control_plane).login == JOBS
    if facts.advance.rollback and not is_job:
        ends, problems = read_auto_merges(inputs.environment, context, of_people=True)
        return replace(facts, auto_merges=tuple(ends), problems=(*warnings, *problems))
    return facts


def read_entry(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    main: str,
    context: CommandContext,
) -> CdReading:
    """Read the branch, and judge by its policy alone: the first job asks no reviewers for nothing.

    The second job reads everything again. Raises UsageError as `read_facts`.
    """
    facts = read_advance(inputs, branch, main, context, proposals=False)
    if facts.advance.action != "write":
        return facts
    facts = with_verdict(inputs, facts, environments, context)
    if facts.waits and _rollback(inputs, facts.branch, environments, context):
        return replace(facts, verdict=LETS_IN)  # it never comes by itself: the second job tells
    return facts


def read_advance(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    main: str,
    context: CommandContext,
    *,
    proposals: bool,
) -> CdReading:
    """Read the branch, and compare the commit with the one that it has or is about to have.

    Raises UsageError as `read_facts`.
    """
    branch = read_promotion(branch, context, proposals=proposals)
    current = before = branch.promoted_commit
    proposed = branch.proposal.promoted_commit if branch.proposal else None
    if proposed and inputs.commit not in {current, proposed}:
        to_current = _relation(current, proposed, main, context) if current else None
        before = expected_commit(current, proposed, to_current)
    relation: Relation | None = None
    if before and before != inputs.commit:
        relation = _relation(before, inputs.commit, main, context)
    decision = advance(
        before,
        inputs.commit,
        relation=relation,
        promoted_from=inputs.promoted_from,
        allow_rollback=inputs.allow_rollback,
    )
    return CdReading(branch, before, decision)


def with_verdict(
    inputs: CdInputs,
    facts: CdReading,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> CdReading:
    """Judge by the policy of the branch where it was read whether the commit may be written.

    A person may go back to a commit that was deployed there. Raises KalypsoError.
    """
    goes_back = facts.advance.rollback
    policy = policy_of(facts.branch, context)
    verdict = read_verdict(
        policy,
        facts.branch,
        inputs.commit,
        environments,
        context,
        goes_back=goes_back,
        person=person_of(context) if goes_back else "",
    )
    overridden = bool(inputs.override) and not verdict.is_fulfilled
    facts = replace(facts, verdict=verdict, overridden=overridden, has_policy=policy.has_file)
    if facts.waits or facts.advance.rollback:
        return facts
    between = statuses_between(facts.branch, inputs.commit, context)
    key = table.context(inputs.environment).lower()
    waiting = tuple(commit for commit, own in between if table.is_outside(own.get(key)))
    return replace(facts, waiting=waiting)


def relation_of(commit: str, newer: str, context: CommandContext) -> Relation | None:
    """Return the relation of a newer commit to a commit; None if one is gone."""
    return commits.relation(context.github, context.control_plane, commit, newer)


def _is_on(commit: str, main: str, context: CommandContext) -> bool:
    return relation_of(commit, main, context) in ON_BRANCH


def _relation(base: str, commit: str, main: str, context: CommandContext) -> Relation | None:
    """Return the relation of a commit to `base`; None if `base` is not on main."""
    relation = relation_of(base, commit, context)
    return relation if relation in {None, "ahead"} or _is_on(base, main, context) else None


def _with_replaced(
    facts: CdReading, replaced: str | None, commit: str, context: CommandContext
) -> CdReading:
    relation = relation_of(replaced, commit, context) if replaced else None
    return replace(facts, replaced=replaced, relation=relation)


def _before_newest(branch: EnvironmentBranch, context: CommandContext) -> str | None:
    """Return the commit of main that the branch's newest commit replaced, if any."""
    newest = commits.get(context.github, context.control_plane, branch.head)
    if not newest.parents:
        return None
    commit = base_at(branch, newest.parents[0], context).promoted_commit
    return commit if commit != branch.promoted_commit else None


def _rejected(
    inputs: CdInputs, branch: EnvironmentBranch, context: CommandContext
) -> PullRequest | None:
    """Return our newest pull request if people closed it unmerged and it brought the commit.

    Only a person may propose it again; an open pull request shows that a person did.
    """
    is_open = branch.proposal is not None and branch.proposal.promoted_commit == inputs.commit
    if inputs.mode != "pull-request" or not inputs.promoted_from or is_open:
        return None
    github, control_plane = context.github, context.control_plane
    pull = pull_requests.newest_closed(
        github, control_plane, head=branch.own_name, base=branch.name, without=WITHDRAWN
    )
    if pull is None or pull.merged:
        return None
    if relation_of(pull.head_commit, branch.name, context) is None:
        return None  # the repository has lost the proposed commit
    brought = base_at(branch, pull.head_commit, context).promoted_commit
    return pull if brought == inputs.commit else None


def _rollback(
    inputs: CdInputs,
    branch: EnvironmentBranch,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> Rollback | None:
    """Return the rollback of this environment, or of the one that the commit comes from.

    A person's own dispatch may bring any commit, and with an open pull request people decide.
    """
    commit, origin = inputs.commit, inputs.promoted_from
    if not origin or branch.brings(commit):
        return None
    back_to = rolled_back_to(commit, branch, environments, context)
    if back_to:
        return rollback_of(branch.environment.name, commit, back_to)
    return None if origin == FROM_CI else _rollback_of_origin(commit, origin, environments, context)


def _rollback_of_origin(
    commit: str, origin: str, environments: Mapping[str, Environment], context: CommandContext
) -> Rollback | None:
    if origin not in environments:
        return unknown_origin(origin)
    current = read_head(environments[origin], context).promoted_commit
    is_other = current is not None and current != commit
    relation = relation_of(commit, current or "", context) if is_other else None
    return rollback_of_origin(origin, current) if has_left(commit, current, relation) else None
