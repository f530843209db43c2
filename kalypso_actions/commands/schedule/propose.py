"""Read the pull requests of one GitOps branch, and plan its proposal by the rules of `gitops`.

`publish` carries out the plan; this module writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import pull_requests, viewer
from kalypso_actions.commands.schedule.overview import open_pulls, read_overview
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import WITHDRAWN
from kalypso_actions.commands.shared.reading.gitops_state import (
    GitOpsState,
    ProposalCommits,
    ProposalState,
)
from kalypso_actions.commands.shared.reading.past_proposals import PastPullRequests
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.overviews import ProposalOverview
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.planning.plan import Plan
from kalypso_actions.report.pull_request_mark import Mark, is_ours, read_mark


@dataclass(frozen=True, slots=True)
class ProposalPlan:
    """The proposal for one GitOps branch, and the decision about it.

    `own_branch` is the proposal on our branch, `pull` our open pull request, `former_pull` that of
    a former identity, `stale_pulls` are others of ours, from or to another branch than now,
    `other_pulls` the numbers of people's pull requests that change our files. `auto_merge` is the
    option that asks for an automatic merge ("" for none). `is_described`: the body of `pull`
    describes the commit on our branch and how it is merged. `open_pulls` are all open pull requests
    into the GitOps branch, before the run writes. `overview` has GitHub's facts about them.
    """

    state: GitOpsState
    changes: TreeChanges
    proposal: gitops.Proposal
    decision: gitops.Decision
    own_branch: ProposalState | None
    pull: PullRequest | None
    auto_merge: str
    is_described: bool
    former_pull: PullRequest | None = None
    stale_pulls: tuple[PullRequest, ...] = ()
    other_pulls: tuple[int, ...] = ()
    open_pulls: tuple[PullRequest, ...] = ()
    overview: ProposalOverview = field(default_factory=ProposalOverview)

    @property
    def merged_by(self) -> str:
        """The option by which this run merges the pull request; "" if people must merge it."""
        return "" if self.decision.hold else self.auto_merge

    @property
    def is_open(self) -> bool:
        """Whether a pull request is open after the run."""
        return self.decision.action in {"create", "update", "leave"}

    @property
    def is_merged(self) -> bool:
        """Whether the GitOps branch has the whole tree already."""
        return self.decision.action in {"none", "withdraw"}

    @property
    def writes(self) -> bool:
        """Whether the run changes the content or the text of a pull request."""
        return self.is_open and not (self.decision.action == "leave" and self.is_described)

    def warnings(self) -> Iterator[Problem]:
        """Yield warnings about the proposal."""
        where = Location(self.state.repository)
        if self.decision.action == "stop":
            advice = "run schedule with force to propose it again, or promote another commit"
            yield Problem(f"nothing is proposed: {self.decision.reason}", where, advice)
        if self.is_open and self.decision.again:
            numbers = gitops.numbers(self.decision.again)
            message = f"the pull request contains again what people took out: {numbers}"
            yield Problem(message, where, "merge it only if that is wanted again")
        if self.other_pulls:
            numbers = gitops.numbers(self.other_pulls)
            message = f"other open pull requests change the same files: {numbers}"
            yield Problem(message, where, "merge one of them, and close the others")
        if self.decision.action == "update" and self.own_branch and not self.own_branch.digest:
            message = f"the commit {self.state.own_head} on {self.state.own_branch} is not ours"
            yield Problem(f"{message}; ours replaces it", where, "change the control plane instead")


def plan_proposal(
    state: GitOpsState,
    changes: TreeChanges,
    plan: Plan,
    read: EnvironmentSnapshot,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> ProposalPlan:
    """Read our pull requests and people's actions on them, and decide. Raises KalypsoError."""
    proposal = gitops.propose(changes, state.tree, plan.environment, plan.promoted_commit)
    overview, pulls = read_overview(state, context)
    pull = next((item for item in pulls if item.base_branch == state.branch), None)
    former_pull = None
    if pull and not pull_requests.is_own(context.github, state.repository, pull):
        pull, former_pull = None, pull
    if pull and not pull.merge_state:  # a list lacks it and `mergeable`
        pull = pull_requests.get(context.github, state.repository, pull.number)
    own_branch, restrictions = None, gitops.Restrictions()
    if proposal.has_changes:
        commits = ProposalCommits(
            state, changes, context.github, context.repositories, overview.own_commit
        )
        own_branch = commits.open_state()
        past = _past(state, plan, read, commits, overview, context)
        restrictions = past.restrictions(proposal, changes)
    open_proposal = _open_proposal(pull or former_pull, own_branch, state)
    decision = gitops.decide(proposal, open_proposal, restrictions, force=inputs.force)
    auto_merge = gitops.auto_merge(inputs.auto_merge, changes, state.tree.path)
    draft = ProposalPlan(
        state=state,
        changes=changes,
        proposal=proposal,
        decision=decision,
        own_branch=own_branch,
        pull=pull,
        former_pull=former_pull,
        auto_merge=auto_merge,
        is_described=False,
        stale_pulls=_stale_pulls(pulls, state, plan, context),
        open_pulls=open_pulls(overview, pulls, state, context),
        overview=overview,
    )
    head, by = state.own_head or "", draft.merged_by
    mark = Mark(plan.environment, head, by, control_plane=context.control_plane)
    proposal_plan = replace(draft, is_described=_is_described(pull, mark))
    return _with_other_pulls(proposal_plan, plan, read.states, context)


def _past(
    state: GitOpsState,
    plan: Plan,
    read: EnvironmentSnapshot,
    commits: ProposalCommits,
    overview: ProposalOverview,
    context: CommandContext,
) -> PastPullRequests:
    return PastPullRequests(
        state,
        plan,
        read.sources,
        commits,
        context.github,
        context.remotes,
        without=WITHDRAWN,
        exist=overview.has_closed is not False,
    )


def _stale_pulls(
    pulls: Sequence[PullRequest], state: GitOpsState, plan: Plan, context: CommandContext
) -> tuple[PullRequest, ...]:
    """Return our pull requests from the same branch to another base branch."""
    return tuple(
        pull
        for pull in pulls
        if pull.base_branch != state.branch and _is_ours(pull, state, plan, context)
    )


def _is_ours(pull: PullRequest, state: GitOpsState, plan: Plan, context: CommandContext) -> bool:
    """Whether Kalypso opened a pull request for this environment, now or as a former identity."""
    identity = viewer.identity(context.github, state.repository)
    author = pull.author
    is_by_us = identity.wrote(author) or identity.formerly_wrote(author)
    return is_by_us and is_ours(pull.body, plan.environment, context.control_plane)


def _open_proposal(
    pull: PullRequest | None, own_branch: ProposalState | None, state: GitOpsState
) -> gitops.OpenProposal | None:
    """Return the open pull request from our branch.

    A conflicting pull request does not fit: it needs a new commit.
    """
    if pull is None:
        return None
    if own_branch is None:
        return gitops.OpenProposal(pull.number, None, None, fits=False)
    conflicts = pull.mergeable is False and own_branch.parent != state.commit
    fits = own_branch.fits and not conflicts
    return gitops.OpenProposal(pull.number, own_branch.digest, own_branch.promoted_commit, fits)


def _is_described(pull: PullRequest | None, mark: Mark) -> bool:
    """Whether the body of a pull request has this mark."""
    present = read_mark(pull.body) if pull else None
    return present is not None and replace(present, tried=None) == mark


def _with_other_pulls(
    proposal_plan: ProposalPlan,
    plan: Plan,
    states: Sequence[GitOpsState],
    context: CommandContext,
) -> ProposalPlan:
    """Add our other open pull requests into the GitOps branch, and others that change our files.

    poll waits for people to merge or close each of ours.
    """
    state, pull, former = proposal_plan.state, proposal_plan.pull, proposal_plan.former_pull
    repository = state.repository.lower()
    siblings = {other.own_branch for other in states if other.repository.lower() == repository}
    stale_pulls, other_pulls = [], []
    for other in proposal_plan.open_pulls:
        in_repository = other.head_repository.lower() == repository
        is_sibling = in_repository and other.head_branch in siblings
        if is_sibling or other.number in {item.number for item in (pull, former) if item}:
            continue
        # The name of our branch changes with `branch-prefix`, and when the repository gets or loses
        # another GitOpsRepo.
        if in_repository and _is_ours(other, state, plan, context):
            stale_pulls.append(other)
        if not proposal_plan.writes or other in stale_pulls:
            continue
        paths = pull_requests.changed_paths(context.github, state.repository, other.number)
        tree = state.tree
        if gitops.changes_own(paths, tree.entries, tree.path, plan.cluster_types):
            other_pulls.append(other.number)
    return replace(
        proposal_plan,
        stale_pulls=(*proposal_plan.stale_pulls, *stale_pulls),
        other_pulls=tuple(other_pulls),
    )
