"""The writes of a run of schedule, in order. Nothing is read or written here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.github import issues as issues_client
from kalypso_actions.clients.github.labels import missing as labels_missing
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.details import Arrivals, WriteDetails
from kalypso_actions.commands.schedule.reading import BranchProposals, EnvironmentSnapshot
from kalypso_actions.commands.shared.auto_merge import is_enabled_by_us, possible_pull_requests
from kalypso_actions.commands.shared.labels import FAILURE_LABELS, KALYPSO, PROMOTED, WITHDRAWN
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import (
    CloseIssue,
    ClosePullRequest,
    DisableAutoMerge,
    Later,
    MergePullRequest,
    NewCommit,
    NoteRefusal,
    OpenPullRequest,
    Push,
    RecordTrees,
    StartWorkflow,
    Unmoved,
    Write,
    WriteIssue,
)
from kalypso_actions.planning.plan import Plan
from kalypso_actions.promotion.merges import meaning_of_push
from kalypso_actions.promotion.starts import check_promote_start
from kalypso_actions.report import failure_issues, markdown, pull_request
from kalypso_actions.report.documents import LeftOutEntry, ProblemEntry
from kalypso_actions.report.failure_issues import FailingAssignment, UnusableRegistration
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.pull_request import PullRequestText

NOTHING_LEFT: Final = (
    "{} has everything that the environment is to have: there is nothing to propose any more."
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the writes name of the run: the control plane (`owner/name`), its URL, and the job."""

    control_plane: str
    url: str
    actor: str
    run_url: str

    def commit_link(self, commit: str | None) -> CommitLink | None:
        """Return a commit of main with its page; None for None."""
        return CommitLink.on(self.url, commit)


def auto_merge_ends(
    snapshot: EnvironmentSnapshot,
    known: Sequence[BranchProposals],
    decision: ScheduleDecision,
    control_plane: str,
) -> tuple[DisableAutoMerge, ...]:
    """Return the auto-merges that GitHub must not keep enabled while this run writes.

    In a blocked environment, that is every auto-merge that Kalypso has enabled.
    """
    withdraw = gitops.ProposalDecision("withdraw")
    ends: list[DisableAutoMerge] = []
    for index, (branch, of_branch) in enumerate(zip(snapshot.branches, known, strict=True)):
        pulls: list[tuple[PullRequest, gitops.ProposalDecision | None, bool]]
        if decision.is_blocked:
            possible = possible_pull_requests(
                of_branch.open_pulls,
                of_branch.identity,
                snapshot.environment.name,
                branch.repository,
                control_plane,
            )
            pulls = [(pull, None, False) for pull in possible]
        else:
            proposal = decision.proposals[index]
            merges = bool(proposal.merged_by)
            pulls = [(pull, proposal.decision, merges) for pull in of_branch.of_role("ours")]
            others = (*of_branch.of_role("former"), *of_branch.of_role("stale"))
            pulls += [(pull, withdraw, False) for pull in others]
        ends += [
            DisableAutoMerge(branch.repository, pull)
            for pull, of_pull, merges in pulls
            if pull.auto_merge_by
            and gitops.ends_auto_merge(
                of_pull, merges=merges, is_own=is_enabled_by_us(pull, of_branch.identity)
            )
        ]
    return tuple(ends)


def schedule_writes(
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    decision: ScheduleDecision,
    details: WriteDetails,
    inputs: ScheduleInputs,
    facts: RunFacts,
) -> tuple[Write, ...]:
    """Return the writes of proposals, starts and issues; none if too much is unknown.

    Our branches are pushed first: only pushes can conflict with other runs. Nothing is merged
    before all pull requests are written, and every branch is still where the run expects it.
    """
    if decision.writes_nothing:
        return ()
    proposals = decision.proposals
    opened = [item for item in proposals if item.is_open]
    pushed = [item for item in opened if isinstance(item.commit, NewCommit)]
    pull_requests = [
        *(write for item in opened if (write := _open(item, plan, details, inputs, facts))),
        *(write for item in proposals for write in _withdraw(item, plan.environment)),
    ]
    return (
        *_sources_unmoved(snapshot),
        *(_push(item, inputs) for item in pushed),
        *_record_trees(pushed, snapshot, facts),
        *pull_requests,
        *(_branches_unmoved(proposals) if pushed or pull_requests else ()),
        *(write for item in opened for write in _merge(item, details, inputs, facts)),
        *(
            _check_promote(branch, branch.head, plan.promoted_commit, inputs, facts, attempt)
            for branch, attempt in details.lost_checks
            if plan.promoted_commit
        ),
        *_issues(snapshot, plan, details, inputs, facts),
    )


def _sources_unmoved(snapshot: EnvironmentSnapshot) -> Iterator[Unmoved]:
    """Check the environment's branch, and bases without a commit.

    The run read them before the heads of our own branches.
    """
    sources = snapshot.sources
    floating = [reading for base, reading in sources.bases if base.commit is None]
    for reading in (sources.own, *floating):
        revision = reading.revision
        yield Unmoved(
            repository=revision.repository,
            url=revision.repository,
            branch=revision.branch,
            commit=revision.commit,
            message=f"the branch {revision.branch!r} has changed while it was read",
        )


def _push(proposal: Proposal, inputs: ScheduleInputs) -> Push:
    """Push the proposed tree as one commit on top of the GitOps branch."""
    branch = proposal.branch
    return Push(
        repository=branch.repository,
        url=branch.url,
        branch=branch.own_branch,
        base=branch.branch,
        expected=branch.own_head,
        parent=branch.head,
        changes=gitops.committed_files(proposal.changes, branch.folder),
        message=gitops.commit_message(proposal.proposed.digest),
        requires_signatures=proposal.known.overview.requires_signatures,
        commit_by=inputs.commit_by,
    )


def _record_trees(
    pushed: Sequence[Proposal], snapshot: EnvironmentSnapshot, facts: RunFacts
) -> Iterator[RecordTrees]:
    head = snapshot.sources.own.revision.commit
    if head and pushed:
        trees = tuple(
            (
                item.branch.url,
                NewCommit(item.branch.repository, item.branch.own_branch),
                item.branch.folder,
                item.changes.content(item.branch.path_of(SOURCES_FILE)),
            )
            for item in pushed
        )
        name = snapshot.environment.name
        yield RecordTrees(
            repository=facts.control_plane, environment=name, commit=head, trees=trees
        )


def _open(
    proposal: Proposal,
    plan: Plan,
    details: WriteDetails,
    inputs: ScheduleInputs,
    facts: RunFacts,
) -> OpenPullRequest | None:
    """Open or update our pull request; None if GitHub has exactly this one."""
    branch, pull, overview = proposal.branch, proposal.pull, proposal.known.overview
    labels = (KALYPSO, *([PROMOTED] if proposal.proposed.is_promotion else []), *inputs.labels)
    # A reopened pull request no longer counts as withdrawn.
    dropped = tuple({PROMOTED, WITHDRAWN}.difference(labels))
    missing = labels_missing(labels, pull.labels if pull else ())
    body: str | Later[str] | None = None
    if pull is None or proposal.writes:
        text, commit = _text(proposal, plan, details, inputs, facts), proposal.commit
        body = _body(text, commit) if isinstance(commit, str) else Later(_body, text, commit, "")
    elif not missing and labels_missing(dropped, pull.labels) == list(dropped):
        return None
    return OpenPullRequest(
        repository=branch.repository,
        head=branch.own_branch,
        base=branch.branch,
        title=pull_request.title(branch.branch, branch.own_branch),
        body=body,
        commit=proposal.commit,
        known=pull,
        read_first=bool(pull or proposal.former_pull),
        labels=labels,
        dropped=dropped,
        # A new pull request may become a promotion later, in a run that makes more requests.
        new_labels=tuple(sorted(missing if pull else {*missing, PROMOTED})),
        repository_labels=overview.labels,
        former_labels=(WITHDRAWN,),
    )


def _body(text: PullRequestText, commit: str) -> str:
    return pull_request.body(replace(text, commit=commit))


def _text(
    proposal: Proposal,
    plan: Plan,
    details: WriteDetails,
    inputs: ScheduleInputs,
    facts: RunFacts,
) -> PullRequestText:
    arrivals = details.arrivals.get(proposal.branch, Arrivals())
    is_allowed = inputs.allow_removals and proposal.is_mass_removal
    return PullRequestText(
        control_plane=facts.control_plane,
        environment=plan.environment,
        commit="",
        assignments=len(plan.assignments),
        changes=proposal.changes,
        folder=proposal.branch.folder,
        main=facts.commit_link(plan.promoted_commit),
        before=facts.commit_link(proposal.proposed.branch_promoted_commit),
        promoted=proposal.proposed.is_promotion,
        auto_merge=proposal.merged_by,
        allowed_by=(facts.actor or "Somebody") if is_allowed else "",
        left_out=LeftOutEntry.all_of(plan.left_out),
        again=proposal.decision.again,
        others=arrivals.others,
        warnings=ProblemEntry.all_of(plan.warnings),
        commits=arrivals.commits,
        comparison=arrivals.comparison,
    )


def _withdraw(proposal: Proposal, environment: str) -> Iterator[ClosePullRequest]:
    """Close our pull requests that this run does not propose, with a comment that says why."""
    branch, decision = proposal.branch, proposal.decision
    to = markdown.code(branch.branch)
    moved = f"Kalypso proposes to {to} from {markdown.code(branch.own_branch)} now."
    closing = [(pull, moved) for pull in proposal.known.of_role("stale")]
    if not proposal.is_open:
        reason = (
            "This is not what the environment is to have any more, and what it is to have was "
            f"rejected: {decision.reason}."
            if decision.action == "stop"
            else NOTHING_LEFT.format(to)
        )
        closing += [(pull, reason) for pull in (proposal.former_pull, proposal.pull) if pull]
    for pull, reason in closing:
        yield ClosePullRequest(
            repository=branch.repository,
            number=pull.number,
            url=pull.url,
            mark=markdown.marker("withdrawn", environment),
            comment=reason,
            labels=(WITHDRAWN,),
        )


def _branches_unmoved(proposals: Sequence[Proposal]) -> Iterator[Unmoved]:
    """Check that no other run has moved our branches, and that no proposed file has changed.

    Another run may have written a newer text of a pull request; a changed file would conflict.
    """
    for proposal in proposals:
        branch = proposal.branch
        yield Unmoved(
            repository=branch.repository,
            url=branch.url,
            branch=branch.own_branch,
            commit=proposal.commit if proposal.is_open else branch.own_head,
            message=f"another run has moved the branch {branch.own_branch!r} meanwhile",
        )
    for proposal in proposals:
        branch = proposal.branch
        if proposal.is_open:
            yield Unmoved(
                repository=branch.repository,
                url=branch.url,
                branch=branch.branch,
                commit=branch.head,
                message=f"the branch {branch.branch!r} has changed what is proposed",
                changes=proposal.changes,
                base_tree=branch.tree,
            )


def _merge(
    proposal: Proposal, details: WriteDetails, inputs: ScheduleInputs, facts: RunFacts
) -> Iterator[MergePullRequest | NoteRefusal]:
    """Merge the pull request if the inputs ask for it, and nothing speaks against it."""
    branch, pull, proposed = proposal.branch, proposal.pull, proposal.proposed
    if not proposal.merged_by:
        if pull and pull.mergeable is False and proposal.decision.action == "leave":
            # A new commit would conflict too.
            yield NoteRefusal(branch.repository, pull, branch.head)
        return
    meaning = meaning_of_push(
        proposed.branch_promoted_commit,
        proposed.promoted_commit,
        goes_back=False,
        environment_commit=proposed.promoted_commit,
        latest=details.latest,
    )
    merge = NewCommit(branch.repository, branch.branch)
    yield MergePullRequest(
        repository=branch.repository,
        head=branch.own_branch,
        base=branch.branch,
        commit=proposal.commit,
        base_head=branch.head,
        known=pull,
        then=_check_promote(branch, merge, meaning.promoted_commit, inputs, facts),
    )


def _check_promote(
    branch: GitOpsBranch,
    gitops_commit: str | NewCommit,
    promoted_commit: str,
    inputs: ScheduleInputs,
    facts: RunFacts,
    attempt: int = 1,
) -> StartWorkflow:
    return check_promote_start(
        facts.control_plane,
        inputs.check_promote_workflow,
        environment=inputs.environment,
        promoted_commit=promoted_commit,
        gitops_commit=gitops_commit,
        repository=branch.repository,
        attempt=attempt,
    )


def _issues(
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    details: WriteDetails,
    inputs: ScheduleInputs,
    facts: RunFacts,
) -> Iterator[WriteIssue | CloseIssue]:
    """Keep one open issue for each failing assignment and each unusable registration.

    Beyond `max_issues` of each kind, one issue lists the others. Close issues about failures that
    are gone; keep those about preserved folders.
    """
    known, identity = details.known_issues, details.identity
    if known is None or identity is None:
        return
    repository, name, run_url = snapshot.branches[0].repository, plan.environment, facts.run_url
    ours = [issue for issue in known if issues_client.is_ours(issue, identity, FAILURE_LABELS)]
    failing = [
        FailingAssignment(
            item.assignment.target.name, item.assignment.cluster_type.name, item.failure.problem
        )
        for item in plan.assignments
        if item.failure
    ]
    unusable = [
        UnusableRegistration(reading.registration.name, reading.problems)
        for reading in snapshot.sources.registrations
        if reading.problems
    ]
    most = inputs.max_issues
    described = (
        *failure_issues.assignment_issues(failing, name, ours, most, run_url),
        *failure_issues.registration_issues(unusable, name, ours, most, run_url),
    )
    wanted = {issue.title: issue for issue in described}
    for issue in wanted.values():
        yield WriteIssue(
            repository=repository,
            title=issue.title,
            body=failure_issues.as_written(issue, ours),
            labels=FAILURE_LABELS,
            among=known,
        )

    def is_unknown(cluster_type: str, target: str) -> bool:
        return any(folders.includes(cluster_type, target) for folders in plan.preserved)

    run = f" {markdown.link('This run', run_url)} has found it so." if run_url else ""
    for settled in failure_issues.settled(
        known, name, wanted, is_unknown, knows_all=not plan.preserved
    ):
        yield CloseIssue(
            repository=repository,
            number=settled.number,
            title=settled.title,
            mark=markdown.marker("settled", name),
            comment=f"This does not fail any more, or does not exist any more.{run}",
        )
