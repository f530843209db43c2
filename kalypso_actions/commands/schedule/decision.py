"""Decide what a run of schedule does: a proposal for each GitOps branch. Nothing is read here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kalypso_actions.commands.schedule.reading import BranchProposals, EnvironmentSnapshot
from kalypso_actions.commands.shared.own_proposals import commit_to_propose, open_proposal
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops import proposal_decision, rejections
from kalypso_actions.gitops.proposal_decision import (
    ProposalDecision,
    ProposedTree,
    propose,
)
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.change_titles import ChangeKind, ChangeMeaning
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.tree import BaseTree, GitOpsBranch, Snapshot, TreeChanges
from kalypso_actions.model.writes import NewCommit, OpenedPullRequest
from kalypso_actions.planning.plan import Plan
from kalypso_actions.promotion.environments import annotated_next
from kalypso_actions.promotion.requests import meaning_of_push
from kalypso_actions.promotion.statuses import has_failed
from kalypso_actions.report.pull_request import Mark, means, read_mark


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal for one GitOps branch, and the decision about it.

    `known` is what GitHub knows of it before the run. `auto_merge` is the option that asks for an
    automatic merge ("" for none). `meaning` is that of the merge. `waiting_for` are the freezes and
    holds that keep the run from proposing and merging. `is_described`: the text of our
    pull request describes the commit on our branch, what it means, and how it is merged.
    """

    branch: GitOpsBranch
    changes: TreeChanges
    proposed: ProposedTree
    known: BranchProposals
    decision: ProposalDecision
    auto_merge: str
    meaning: ChangeMeaning
    waiting_for: str = ""
    is_described: bool = False
    is_mass_removal: bool = False

    @property
    def pull(self) -> PullRequest | None:
        """Our open pull request before the run."""
        return next(iter(self.known.of_role("ours")), None)

    @property
    def former_pull(self) -> PullRequest | None:
        """The open pull request of a former identity, which ours replaces."""
        return next(iter(self.known.of_role("former")), None)

    @property
    def opened(self) -> OpenedPullRequest:
        """The pull request that the run opens or updates."""
        return OpenedPullRequest(self.branch.repository, self.branch.own_branch, self.branch.branch)

    @property
    def merged_by(self) -> str:
        """The option by which this run merges the pull request; "" if people must merge it."""
        return "" if self.decision.hold else self.auto_merge

    @property
    def is_open(self) -> bool:
        """Whether a pull request is open after the run."""
        return self.decision.action in {"create", "update", "leave"}

    @property
    def writes(self) -> bool:
        """Whether the run changes the content or the text of a pull request."""
        return self.is_open and not (self.decision.action == "leave" and self.is_described)

    @property
    def commit(self) -> str | NewCommit:
        """The commit to propose: the head of our branch if it proposes this tree already."""
        own = self.known.on_own_branch
        return commit_to_propose(self.branch, own, self.proposed, self.decision)

    def warnings(self, others: Sequence[int]) -> Iterator[Problem]:
        """Yield warnings; `others` are people's pull requests that change the same files."""
        where = Location(self.branch.repository)
        if self.decision.action == "stop":
            advice = "run schedule with force to propose it again, or promote another commit"
            yield Problem(f"nothing is proposed: {self.decision.reason}", where, advice)
        if self.decision.action == "wait":
            advice = "wait for its end; a person may run schedule with force"
            yield Problem(f"nothing is proposed: {self.decision.reason}", where, advice)
        if self.is_open and self.decision.again:
            numbers = rejections.numbers(self.decision.again)
            message = f"the pull request proposes again what people removed: {numbers}"
            yield Problem(message, where, "merge it only if that is wanted again")
        if others:
            message = (
                f"other open pull requests change the same files: {rejections.numbers(others)}"
            )
            yield Problem(message, where, "merge one of them, and close the others")
        own = self.known.on_own_branch
        if self.decision.action == "update" and own and not own.digest:
            message = f"the commit {self.branch.own_head} on {self.branch.own_branch} is not ours"
            yield Problem(f"{message}; ours replaces it", where, "change the control plane instead")


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """The decision of a run, with all that it was made from; `known` is about each GitOps branch.

    There are no `proposals` if a failing assignment blocks: then its desired files are unknown.
    `problems` and `warnings` are those of the plan and about mass removals; `removed` are the
    folders of mass removals without permission.
    """

    snapshot: EnvironmentSnapshot
    plan: Plan
    known: tuple[BranchProposals, ...]
    proposals: tuple[Proposal, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    removed: tuple[str, ...] = ()

    @property
    def is_blocked(self) -> bool:
        """Whether the run must not merge anything, nor leave it to GitHub."""
        return bool(self.problems)

    @property
    def writes_nothing(self) -> bool:
        """Whether the run writes neither proposals nor issues: too much is unknown."""
        return bool(self.plan.faults or self.removed)

    @property
    def is_merged(self) -> bool:
        """Whether all GitOps branches have the whole tree of the promoted commit."""
        return bool(self.proposals) and all(
            item.decision.action in {"none", "withdraw"}
            and item.proposed.branch_promoted_commit == self.plan.promoted_commit
            for item in self.proposals
        )


def decide(
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    known: tuple[BranchProposals, ...],
    inputs: ScheduleInputs,
    control_plane: str,
) -> ScheduleDecision:
    """Decide from everything that the run has read."""
    proposals: tuple[Proposal, ...] = ()
    if not plan.problems:
        proposals = tuple(
            _proposal(branch, changes, plan, of_branch, inputs, control_plane, snapshot)
            for branch, changes, of_branch in zip(snapshot.branches, plan.trees, known, strict=True)
        )
    problems, warnings = list(plan.problems), list(plan.warnings)
    removed: list[str] = []
    for index, removal in enumerate(plan.mass_removals):
        if removal is None:
            continue
        # A run that writes nothing needs no permission: the removal is already proposed.
        writes = not proposals or proposals[index].writes
        if writes and not (plan.faults or inputs.allow_removals):
            advice = "if that is wanted, run schedule with allow-removals"
            problems.append(Problem(removal.message, removal.where, advice))
            removed += plan.trees[index].removed_folders
        else:
            warnings.append(removal)
    proposals = tuple(
        replace(proposal, is_mass_removal=removal is not None)
        for proposal, removal in zip(proposals, plan.mass_removals, strict=False)
    )
    return ScheduleDecision(
        snapshot,
        plan,
        known,
        proposals,
        tuple(problems),
        tuple(warnings),
        tuple(dict.fromkeys(removed)),
    )


def _proposal(
    branch: GitOpsBranch,
    changes: TreeChanges,
    plan: Plan,
    known: BranchProposals,
    inputs: ScheduleInputs,
    control_plane: str,
    snapshot: EnvironmentSnapshot,
) -> Proposal:
    proposed = propose(changes, branch.tree, plan.environment, plan.promoted_commit)
    pull = next(iter((*known.of_role("ours"), *known.of_role("former"))), None)
    already_open = open_proposal(pull, known.on_own_branch, branch)
    decision = proposal_decision.decide(
        proposed, already_open, known.restrictions, force=inputs.force
    )
    decision = proposal_decision.held(decision, snapshot.closed.description, force=inputs.force)
    auto_merge = proposal_decision.auto_merge(inputs.auto_merge, changes, branch.folder)
    sources, environments = snapshot.sources, snapshot.environments
    meaning = proposal_meaning(
        proposed, changes, branch.tree, plan, sources, environments, known.latest
    )
    waiting_for = snapshot.closed.description
    proposal = Proposal(
        branch, changes, proposed, known, decision, auto_merge, meaning, waiting_for=waiting_for
    )
    mark = Mark(
        plan.environment,
        branch.own_head or "",
        proposal.merged_by,
        control_plane=control_plane,
        means=means(meaning, inputs.title, waiting_for),
    )
    present = read_mark(proposal.pull.body) if proposal.pull else None
    is_described = present is not None and replace(present, tried=None, means=mark.means) == mark
    if present and present.means not in {"", mark.means} and changes.mass_removal is None:
        is_described = False  # a new text would no longer say who allowed a mass removal
    return replace(proposal, is_described=is_described)


def proposal_meaning(
    proposed: ProposedTree,
    changes: TreeChanges,
    base: BaseTree,
    plan: Plan,
    sources: Snapshot,
    environments: Mapping[str, Environment],
    latest: CommitStatus | None,
) -> ChangeMeaning:
    """Return the meaning of a proposed tree for the branch with the tree `base`.

    `latest` is the status of the promoted commit for the environment, if the branch names it
    already. Whether a promotion goes back is not known here: see `ChangeMeaning.with_commits`.
    """
    merge = meaning_of_push(
        proposed.branch_promoted_commit,
        proposed.promoted_commit,
        goes_back=False,
        environment_commit=proposed.promoted_commit,
        latest=latest,
    )
    kind: ChangeKind = merge.kind
    applications: tuple[str, ...] = ()
    previous = read_sources(base.sources, plan.environment)
    if kind == "configuration" and previous:
        applications = tuple(_moved(previous, sources))
        if applications and _has_same_configuration(previous, sources):
            kind = "application"
    cluster_types = {
        item.assignment.cluster_type.name: item.assignment.cluster_type for item in plan.assignments
    }
    named = [cluster_type.clusters for cluster_type in cluster_types.values()]
    tracking = f"{base.prefix}{TRACKING_FOLDER}/"
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return ChangeMeaning(
        kind=kind,
        environment=plan.environment,
        commit=proposed.promoted_commit or "",
        next_environments=annotated_next(plan.environment, environments),
        files=sum(not path.startswith(tracking) for path in touched),
        applications=applications,
        clusters=sum(map(len, named)) if all(named) else 0,
        cluster_types=len(cluster_types),
        failure=latest.description if has_failed(latest) and latest else "",
    )


def _has_same_configuration(previous: PreviousSources, sources: Snapshot) -> bool:
    """Whether the environment's branch and its base repositories are as the tree was made from."""
    branch = previous.environment_branch
    if branch is None or branch.tree is None or branch.tree != sources.own.revision.tree:
        return False
    bases = {base.name: reading.revision.commit for base, reading in sources.bases}
    return bases == {name: base.commit for name, base in previous.base_repos.items()}


def _moved(previous: PreviousSources, sources: Snapshot) -> Iterator[str]:
    """Yield the registrations whose folder differs from the one that the tree was made from."""
    for reading in sources.registrations:
        before = previous.registrations.get(reading.registration.name)
        if before and reading.revision and before.tree != reading.revision.tree:
            yield reading.registration.name
