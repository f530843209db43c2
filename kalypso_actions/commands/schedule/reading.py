"""Read what a run of schedule decides from: the environment, and the proposals to its branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from typing import Literal

from kalypso_actions.clients.github import GitHubError, commits, overviews, pull_requests
from kalypso_actions.clients.installed_code import RENDERING, code_digest
from kalypso_actions.commands.schedule.earlier_proposals import EarlierProposals
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch, gitops_branches
from kalypso_actions.commands.shared.own_statuses import own_statuses, written_trees
from kalypso_actions.commands.shared.policy_entry import read_closed
from kalypso_actions.commands.shared.reading.base_trees import as_written, read_gitops_branch
from kalypso_actions.commands.shared.reading.control_plane import (
    ControlPlaneReading,
    EnvironmentReading,
    read_control_plane,
    reading_branch_of,
)
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations, read_snapshot
from kalypso_actions.commands.shared.schedule_sources import moving_folders, read_trees
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.own_files import own_branches
from kalypso_actions.gitops.proposal_decision import OpenProposal, propose
from kalypso_actions.gitops.rejections import Restrictions
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import CommitStatus, ProposalOverview, PullRequest
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, RepositoryPath
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.promotion_policy import PolicyReading
from kalypso_actions.model.tree import GitOpsBranch, Snapshot, TreeChanges
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.fleet_checks import FleetView
from kalypso_actions.planning.fleet_checks.scope import scope_of
from kalypso_actions.planning.merged_findings import judged
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.policy import (
    LETS_IN,
    EntryFacts,
    PolicyVerdict,
    closed,
    next_closing,
)
from kalypso_actions.report.pull_request import is_ours

Role = Literal["ours", "former", "stale", "sibling", "other", "elsewhere"]
"""Whose pull request it is: `ours` is our proposal to a GitOps branch, `former` the same of a
former identity, `stale` our proposal from or to another branch than now, `sibling` our
proposal to another tree of the environment in this branch. Other people's pull requests go into the
branch (`other`) or `elsewhere`."""


@dataclass(frozen=True, slots=True)
class EnvironmentSnapshot:
    """The sources, and the GitOps branches in the order of the snapshot's base trees.

    `folders` are the tree ids of the registered folders before they were read; None if GitHub did
    not return them. `closed` has the freezes and holds that apply, and `closes_at` the time of the
    next freeze; `held_at` is the hold that lets in nothing but the environment's commit, in words
    ("": none).
    """

    environment: Environment
    environments: Mapping[str, Environment]
    sources: Snapshot
    branches: tuple[GitOpsBranch, ...]
    folders: Mapping[RepositoryPath, str | None] | None
    closed: PolicyVerdict = LETS_IN
    closes_at: datetime | None = None
    held_at: str = ""

    @property
    def policy(self) -> PolicyReading:
        """The policy of the environment."""
        return self.sources.own.policy


@dataclass(frozen=True, slots=True)
class BranchProposals:
    """What GitHub knows of the proposals to one GitOps branch before the run writes.

    `pulls` are pull requests with their role, `open_pulls` all open ones into the branch.
    `on_own_branch` is what our branch proposes (None: nothing, or it does not matter).
    `restrictions` come from what people have rejected. `identity` is our account. `latest` is the
    status of the promoted commit for the environment, if the branch names the commit already;
    `refusals` say why GitHub does not return it.
    """

    identity: Identity
    open_pulls: tuple[PullRequest, ...]
    pulls: tuple[tuple[PullRequest, Role], ...] = ()
    on_own_branch: OpenProposal | None = None
    restrictions: Restrictions = field(default_factory=Restrictions)
    overview: ProposalOverview = field(default_factory=ProposalOverview)
    latest: CommitStatus | None = None
    refusals: tuple[Problem, ...] = ()

    def of_role(self, role: Role) -> tuple[PullRequest, ...]:
        """Return the pull requests of a role."""
        return tuple(pull for pull, its_role in self.pulls if its_role == role)


def read_everything(inputs: ScheduleInputs, context: CommandContext) -> EnvironmentSnapshot:
    """Read the environment's branch, main, the GitOps branches and the registered folders.

    Read the heads of our own branches before the registered folders. If a later push finds the same
    heads, no other run has written a proposal from newer sources. Raises KalypsoError if anything
    except a registered repository cannot be read.
    """
    environments = context.environments()
    environment = context.environment(inputs.environment, environments)
    place, url, reader = (
        environment.control_plane,
        context.url(context.control_plane),
        context.reader,
    )
    with reading_branch_of(environment):
        own = reader.documents(RepositoryPath(url, place.branch, place.path))
    branch = EnvironmentReading(environment.name, own, environment, url)
    control_plane = read_control_plane(branch, reader)
    folders = _folders(control_plane, context)
    branches = tuple(_branches(environment, control_plane, inputs.branch_prefix, context))
    base_trees = [branch.tree for branch in branches]
    options = PlanOptions.of(inputs)
    sources = read_snapshot(control_plane, reader, options, base_trees=base_trees)
    return EnvironmentSnapshot(environment, environments, sources, branches, folders)


def _folders(
    control_plane: ControlPlaneReading, context: CommandContext
) -> Mapping[RepositoryPath, str | None] | None:
    try:
        return read_trees(context, moving_folders(control_plane))[0]
    except GitHubError as error:
        context.runtime.log(f"Poll will look at the sources again: {error.problem.message}")
        return None


def _branches(
    environment: Environment,
    control_plane: ControlPlaneReading,
    prefix: str,
    context: CommandContext,
) -> Iterator[GitOpsBranch]:
    """Yield the GitOps branches; their trees say whether a run has written exactly them."""
    repos = control_plane.fleet.gitops_repos
    unknown = (item for item in control_plane.findings.problems if item.code == "kind-unknown")
    faults = (*control_plane.environment.problems, *unknown)
    places = gitops_branches(context, environment, repos, faults)
    names = own_branches(prefix, environment.name, repos)
    branches = [
        read_gitops_branch(replace(place, own_branch=names[place.gitops_repo]), context)
        for place in places
    ]
    written = written_trees(context, environment.name, [branch.tree for branch in branches])
    for branch in branches:
        files = context.repositories.open(branch.url, commit=branch.head)
        yield replace(branch, base_tree=as_written(branch.tree, files, written))


def plan_environment(
    snapshot: EnvironmentSnapshot, inputs: ScheduleInputs, context: CommandContext
) -> tuple[EnvironmentSnapshot, Plan]:
    """Plan the environment's tree; return the plan with the registrations that it uses.

    Its findings are those of the environment alone: ci judges the objects of main, over all
    environments.
    """
    options = PlanOptions.of(inputs, code=code_digest(RENDERING))
    # Files are written into the clone of the only GitOps repository while others are rendered.
    urls = {branch.url for branch in snapshot.branches}
    write_blobs = context.remotes.blob_writer(*urls) if len(urls) == 1 else None
    sources, plan = plan_registrations(
        snapshot.sources, options, context.reader, context.runtime.progress, write_blobs
    )
    if taken_over := len(plan.changes.taken_over):
        total = len(plan.assignments)
        context.runtime.log(f"{taken_over} of {total} assignments have the inputs of the tree")
    scope = scope_of(plan.fleet, sources)
    view = FleetView((scope,) if scope else (), snapshot.environments)
    return replace(snapshot, sources=sources), judged(plan, sources, view)


def with_closed(
    snapshot: EnvironmentSnapshot, plan: Plan, context: CommandContext
) -> EnvironmentSnapshot:
    """Read the freezes and holds that apply to what the run would propose.

    Raises KalypsoError.
    """
    own, policy = snapshot.sources.own, snapshot.policy.policy
    if policy is None:  # without a readable one, cd lets nothing in
        return snapshot
    tracked = tuple(
        propose(changes, branch.tree, plan.environment, plan.promoted_commit).branch_promoted_commit
        for changes, branch in zip(plan.trees, snapshot.branches, strict=True)
    )
    url, head = context.url(context.control_plane), own.revision.commit or ""
    branch = EnvironmentBranch(snapshot.environment, url, head, plan.promoted_commit)
    verdict = read_closed(policy, branch, tracked, snapshot.environments, context)
    now, at = context.runtime.now(), plan.promoted_commit
    others = closed(policy, EntryFacts(plan.environment, ""), now).reasons
    held_at = (each.text for each in others if each.hold and each.hold.at and each.hold.at == at)
    closes_at = next_closing(policy.freezes, now)
    return replace(snapshot, closed=verdict, closes_at=closes_at, held_at=next(held_at, ""))


def read_proposals(
    snapshot: EnvironmentSnapshot, plan: Plan, context: CommandContext
) -> tuple[BranchProposals, ...]:
    """Read the pull requests of each GitOps branch, and what people did to them.

    If the environment is blocked, read only which pull requests are open. Raises KalypsoError.
    """
    if plan.faults or plan.problems:
        return tuple(_open_only(branch, context) for branch in snapshot.branches)
    latest = cache(partial(_latest, snapshot.sources, plan, context))
    return tuple(
        _proposals(branch, changes, plan, snapshot, latest, context)
        for branch, changes in zip(snapshot.branches, plan.trees, strict=True)
    )


def _open_only(branch: GitOpsBranch, context: CommandContext) -> BranchProposals:
    identity = context.github.identity(branch.repository)
    every = pull_requests.open_into(context.github, branch.repository, branch.branch)
    return BranchProposals(identity, every)


def _proposals(
    branch: GitOpsBranch,
    changes: TreeChanges,
    plan: Plan,
    snapshot: EnvironmentSnapshot,
    read_latest: Callable[[], tuple[CommitStatus | None, tuple[Problem, ...]]],
    context: CommandContext,
) -> BranchProposals:
    proposed = propose(changes, branch.tree, plan.environment, plan.promoted_commit)
    overview, from_own = _overview(branch, context)
    first = next((pull for pull in from_own if pull.base_branch == branch.branch), None)
    role: Role = "ours"
    if first and not pull_requests.is_own(context.github, branch.repository, first):
        role = "former"
    elif first and not first.merge_state:  # a list lacks it and `mergeable`
        first = pull_requests.get(context.github, branch.repository, first.number)
    on_own_branch, restrictions = None, Restrictions()
    latest: CommitStatus | None = None
    refusals: tuple[Problem, ...] = ()
    if proposed.has_changes:
        earlier = EarlierProposals(branch, changes, plan, snapshot.sources, overview, context)
        on_own_branch = earlier.on_own_branch()
        restrictions = earlier.restrictions(proposed)
        if proposed.continues:
            latest, refusals = read_latest()
    identity = context.github.identity(branch.repository)
    open_pulls = _open_pulls(overview, from_own, branch, context)
    elsewhere = [pull for pull in from_own if pull.base_branch != branch.branch]
    others = [pull for pull in open_pulls if first is None or pull.number != first.number]
    pulls: list[tuple[PullRequest, Role]] = [(first, role)] if first else []
    pulls += [
        (pull, _role(pull, branch, snapshot, identity, context)) for pull in (*elsewhere, *others)
    ]
    return BranchProposals(
        identity=identity,
        open_pulls=open_pulls,
        pulls=tuple(pulls),
        on_own_branch=on_own_branch,
        restrictions=restrictions,
        overview=overview,
        latest=latest,
        refusals=refusals,
    )


def has_own_main(sources: Snapshot, context: CommandContext) -> bool:
    """Whether main lies in the control plane, where the statuses of its commits are."""
    mains = [base.source.repo for base, _ in sources.bases if base.name == MAIN_BASE_REPO]
    own = repository_key(context.url(context.control_plane))
    return [repository_key(url) for url in mains] == [own]


def _latest(
    sources: Snapshot, plan: Plan, context: CommandContext
) -> tuple[CommitStatus | None, tuple[Problem, ...]]:
    """Return the promoted commit's status for the environment, and GitHub's refusal."""
    if plan.promoted_commit is None or not has_own_main(sources, context):
        return None, ()
    try:
        posted = own_statuses(context, plan.promoted_commit)
    except GitHubError as error:
        return None, error.problems
    return posted.get(table.context(plan.environment).lower()), ()


def _role(
    pull: PullRequest,
    branch: GitOpsBranch,
    snapshot: EnvironmentSnapshot,
    identity: Identity,
    context: CommandContext,
) -> Role:
    """Return the role of a pull request other than our proposal to the branch.

    The name of our branch changes with `branch-prefix`, and when the repository gets or loses
    another GitOpsRepo. Then our earlier pull requests stay open, and poll would wait for them.
    """
    repository = branch.repository.lower()
    siblings = {
        other.own_branch for other in snapshot.branches if other.repository.lower() == repository
    }
    in_repository = pull.head_repository.lower() == repository
    is_proposal = pull.base_branch == branch.branch and pull.head_branch in siblings
    if in_repository and is_proposal:
        return "sibling"
    by_us = identity.wrote(pull.author) or identity.formerly_wrote(pull.author)
    is_marked = is_ours(pull.body, snapshot.environment.name, context.control_plane)
    if in_repository and by_us and is_marked:
        return "stale"
    return "other" if pull.base_branch == branch.branch else "elsewhere"


def _overview(
    branch: GitOpsBranch, context: CommandContext
) -> tuple[ProposalOverview, Sequence[PullRequest]]:
    """Return the overview, and the open pull requests from our branch, newest first.

    One query reads all of it; lists of the REST API give what the query leaves out, and the reason
    if GitHub refuses the query.
    """
    github, repository = context.github, branch.repository
    try:
        overview = overviews.read_proposal(
            github, repository, head=branch.own_branch, base=branch.branch, commit=branch.own_head
        )
    except GitHubError as error:
        context.runtime.log(f"{error.problem.message}; they are listed one by one")
        overview = ProposalOverview()
    if overview.from_branch is None:
        return overview, pull_requests.find(github, repository, head=branch.own_branch)
    pulls = [pull for pull in overview.from_branch if pull.head_branch == branch.own_branch]
    for pull in pulls:
        github.recent_writes.add_pull_request(repository, pull)
    return overview, sorted(pulls, key=lambda pull: -pull.number)


def _open_pulls(
    overview: ProposalOverview,
    from_own: Sequence[PullRequest],
    branch: GitOpsBranch,
    context: CommandContext,
) -> tuple[PullRequest, ...]:
    """Return all open pull requests into the branch, oldest first; those `from_own` are known."""
    known = {pull.number: pull for pull in from_own if pull.base_branch == branch.branch}
    numbers = overview.into_branch
    if numbers is None or not known.keys() >= set(numbers):
        return pull_requests.open_into(context.github, branch.repository, branch.branch)
    return tuple(known[number] for number in sorted(numbers))


def main_position(snapshot: Snapshot, context: CommandContext) -> BranchPosition | None:
    """Return the position on main of the environment's commit; None without a commit.

    If GitHub does not answer, the run goes on, and the position has the reason.
    """
    for base, reading in snapshot.bases:
        commit = reading.revision.commit
        if base.name == MAIN_BASE_REPO and commit:
            try:
                repository = context.repository(base.source.repo, base.where)
                return commits.position(context.github, repository, commit, base.source.branch)
            except KalypsoError as error:
                fault = error.problem.message
                return BranchPosition(base.source.branch, commit, "", None, fault)
    return None
