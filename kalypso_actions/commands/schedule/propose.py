"""What becomes of one GitOps branch: first everything is read, then the pull request is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import pull_requests
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.environment_snapshot import EnvironmentSnapshot
from kalypso_actions.commands.runtime.labels import WITHDRAWN
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.plan import Plan
from kalypso_actions.report import pull_request
from kalypso_actions.report.pull_request import Mark
from kalypso_actions.snapshot.gitops_state import EarlierProposals, GitOpsState, Standing
from kalypso_actions.snapshot.rejections import PastProposals


@dataclass(frozen=True, slots=True)
class Proposition:
    """One GitOps branch, what it is to have, and what is done about it.

    `pull` is our open pull request, `strays` are others of ours that propose to another place now,
    `others` the numbers of people's that change files of ours. `auto_merge` is the option that asks
    for a merge without a person ("" for none). `is_described`: the body of `pull` is that of the
    commit on our branch, and says how it is merged.
    """

    state: GitOpsState
    changes: TreeChanges
    proposed: gitops.Proposed
    promoted: bool
    decision: gitops.Decision
    standing: Standing | None
    pull: PullRequest | None
    auto_merge: str
    is_described: bool
    strays: tuple[PullRequest, ...]
    others: tuple[int, ...]

    @property
    def merged_by(self) -> str:
        """The option by which this run merges the pull request; "" where people have to."""
        return "" if self.decision.hold else self.auto_merge

    @property
    def is_proposed(self) -> bool:
        """Whether there is a pull request for it afterwards."""
        return self.decision.action in {"create", "update", "leave"}

    @property
    def writes(self) -> bool:
        """Whether a pull request gets another content or another text."""
        return self.is_proposed and not (self.decision.action == "leave" and self.is_described)

    def warnings(self) -> Iterator[Problem]:
        """What people should know of it."""
        where = Location(self.state.repository)
        if self.decision.action == "stop":
            advice = "run schedule with force to propose it again, or promote another commit"
            yield Problem(f"nothing is proposed: {self.decision.reason}", where, advice)
        if self.is_proposed and self.decision.again:
            numbers = gitops.numbers(self.decision.again)
            message = f"the pull request contains again what people took out: {numbers}"
            yield Problem(message, where, "merge it only if that is wanted again")
        if self.others:
            numbers = ", ".join(f"#{number}" for number in self.others)
            message = f"other open pull requests change the same files: {numbers}"
            yield Problem(message, where, "merge one of them, and close the others")
        if self.decision.action == "update" and self.standing and not self.standing.digest:
            message = f"the commit {self.state.own_head} on {self.state.own_branch} is not ours"
            yield Problem(f"{message}; ours replaces it", where, "change the control plane instead")


def prepare(
    state: GitOpsState,
    changes: TreeChanges,
    plan: Plan,
    read: EnvironmentSnapshot,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> Proposition:
    """Read what became of earlier proposals, and decide. Raises KalypsoError."""
    github = context.github
    proposed, promoted = _proposed(state, changes, plan)
    pulls = pull_requests.find(github, state.repository, head=state.own_branch)
    pull = next((one for one in pulls if one.base_branch == state.branch), None)
    if pull:  # lists do not tell whether it can be merged
        pull = pull_requests.get(github, state.repository, pull.number)
    standing, verdict = None, gitops.Verdict()
    if proposed.has_changes:
        earlier = EarlierProposals(state, changes, github, context.repositories)
        standing = earlier.standing()
        past = PastProposals(
            state, plan, read.sources, earlier, github, context.remotes, without=WITHDRAWN
        )
        verdict = past.verdict(proposed, changes)
    decision = gitops.decide(proposed, _open(pull, standing, state), verdict, force=inputs.force)
    auto_merge = _auto_merge(inputs, changes, state)
    merged_by = "" if decision.hold else auto_merge
    proposition = Proposition(
        state=state,
        changes=changes,
        proposed=proposed,
        promoted=promoted,
        decision=decision,
        standing=standing,
        pull=pull,
        auto_merge=auto_merge,
        is_described=pull is not None
        and _is_described(pull, Mark(plan.environment, state.own_head or "", merged_by)),
        strays=tuple(
            one
            for one in pulls
            if (pull is None or one.number != pull.number)
            and pull_request.is_ours(one.body, plan.environment)
        ),
        others=(),
    )
    if not proposition.writes:
        return proposition
    siblings = {
        other.own_branch
        for other in read.states
        if other.repository.lower() == state.repository.lower()
    }
    return _beside(proposition, plan, siblings, inputs, context)


def _proposed(state: GitOpsState, changes: TreeChanges, plan: Plan) -> tuple[gitops.Proposed, bool]:
    """What is proposed, and whether it is a promotion."""
    base = state.tree
    base_tracking = gitops.tracked_commit(base.promoted_commit)
    promoted_file = (plan.promoted_commit or "").encode()
    # A branch that was cut from another environment's says nothing of this one.
    is_new = gitops.is_of_another(base.sources, plan.environment)
    # Somebody else moved the tracking file: check-promote does not believe it by itself.
    is_incomplete = base_tracking == plan.promoted_commit is not None and gitops.contradicts(
        base.sources, plan.environment, plan.promoted_commit
    )
    changed = bool(changes.added or changes.modified or changes.deleted)
    proposed = gitops.Proposed(
        digest=gitops.digest(changes.files, base.path, gitops.kept_files(changes, base)),
        has_changes=changed or is_new or is_incomplete,
        tracking=plan.promoted_commit or base_tracking,
        base_tracking=base_tracking,
    )
    differs = is_new or base.promoted_commit != promoted_file
    return proposed, plan.promoted_commit is not None and differs


def _open(
    pull: PullRequest | None, standing: Standing | None, state: GitOpsState
) -> gitops.OpenProposal | None:
    """Our open pull request. One that conflicts is made anew, on top of the branch as it is."""
    if pull is None:
        return None
    if standing is None:
        return gitops.OpenProposal(pull.number, None, None, fits=False)
    conflicts = pull.mergeable is False and standing.parent != state.commit
    fits = standing.fits and not conflicts
    return gitops.OpenProposal(pull.number, standing.digest, standing.tracking, fits)


def _auto_merge(inputs: ScheduleInputs, changes: TreeChanges, state: GitOpsState) -> str:
    """The option that asks for a merge without a person; "" where none does."""
    tracks = gitops.only_tracks(changes, state.tree.path)
    fits = inputs.auto_merge == "always" or (inputs.auto_merge == "tracking-only" and tracks)
    return inputs.auto_merge if fits else ""


def _is_described(pull: PullRequest, mark: Mark) -> bool:
    """Whether the body is what we have written for this commit, to its end or cut."""
    found = pull_request.read_mark(pull.body)
    return found is not None and replace(found, tried=None) == mark


def _beside(
    proposition: Proposition,
    plan: Plan,
    siblings: Collection[str],
    inputs: ScheduleInputs,
    context: CommandContext,
) -> Proposition:
    """With the other open pull requests into the branch that concern it."""
    state = proposition.state
    strays, others = [], []
    for one in pull_requests.open_into(context.github, state.repository, state.branch):
        in_repository = one.head_repository.lower() == state.repository.lower()
        is_sibling = in_repository and one.head_branch in siblings
        if is_sibling or (proposition.pull and one.number == proposition.pull.number):
            continue
        # Where an object gets company in its repository, or loses it, our branch has a new name.
        begins = f"{inputs.branch_prefix}{plan.environment}"
        ours = one.head_branch.startswith(begins)
        if in_repository and ours and pull_request.is_ours(one.body, plan.environment):
            strays.append(one)
            continue
        paths = pull_requests.changed_paths(context.github, state.repository, one.number)
        tree = state.tree
        if gitops.changes_own(paths, tree.entries, tree.path, plan.cluster_types):
            others.append(one.number)
    return replace(proposition, strays=(*proposition.strays, *strays), others=tuple(others))
