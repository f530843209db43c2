"""The writes of a run of schedule, in order. Nothing is read or written here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.clients.github.issues import is_ours as is_own_issue
from kalypso_actions.clients.github.labels import missing as missing_labels
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.details import Arrivals, WriteDetails
from kalypso_actions.commands.shared.auto_merge import is_enabled_by_us, possible_pull_requests
from kalypso_actions.commands.shared.labels import FAILURE_LABELS, KALYPSO, PROMOTED, WITHDRAWN
from kalypso_actions.commands.shared.own_proposals import push_of_proposal
from kalypso_actions.gitops.proposal_decision import ProposalDecision, ends_auto_merge
from kalypso_actions.gitops.proposed_commit import commit_message, committed_files
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.change_titles import ChangeMeaning, harmless, shortened
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
    PostStatus,
    Push,
    RecordTrees,
    StartWorkflow,
    Unmoved,
    UpdateText,
    Write,
    WriteIssue,
)
from kalypso_actions.promotion.policy import policy_of_proposal
from kalypso_actions.promotion.starts import check_promote_start
from kalypso_actions.report import failure_issues, markdown, pull_request
from kalypso_actions.report.documents import LeftOutEntry, ProblemEntry
from kalypso_actions.report.failure_issues import FailingAssignment, UnusableRegistration
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.pull_request import PullRequestText

NOTHING_LEFT: Final = "{} already matches the environment; nothing is left to propose."


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """What the writes name of the run: its inputs, the control plane, and the job."""

    inputs: ScheduleInputs
    control_plane: str
    url: str
    actor: str
    page: str


def auto_merge_ends(decision: ScheduleDecision, control_plane: str) -> tuple[DisableAutoMerge, ...]:
    """Return the auto-merges that GitHub must not keep enabled while this run writes.

    In a blocked environment, that is every auto-merge that Kalypso has enabled.
    """
    withdraw = ProposalDecision("withdraw")
    name = decision.plan.environment
    ends: list[DisableAutoMerge] = []
    for index, (branch, known) in enumerate(
        zip(decision.snapshot.branches, decision.known, strict=True)
    ):
        pulls: list[tuple[PullRequest, ProposalDecision | None, bool]]
        if decision.is_blocked:
            possible = possible_pull_requests(
                known.open_pulls, known.identity, name, branch.repository, control_plane
            )
            pulls = [(pull, None, False) for pull in possible]
        else:
            proposal = decision.proposals[index]
            merges = bool(proposal.merged_by)
            pulls = [(pull, proposal.decision, merges) for pull in known.of_role("ours")]
            others = (*known.of_role("former"), *known.of_role("stale"))
            pulls += [(pull, withdraw, False) for pull in others]
        ends += [
            DisableAutoMerge(branch.repository, pull)
            for pull, of_pull, merges in pulls
            if pull.auto_merge_by
            and ends_auto_merge(
                of_pull, merges=merges, is_own=is_enabled_by_us(pull, known.identity)
            )
        ]
    return tuple(ends)


@dataclass(frozen=True, slots=True)
class ScheduleWrites:
    """Makes the writes of a run after its decision."""

    run: ScheduleRun
    decision: ScheduleDecision
    details: WriteDetails

    def in_order(self) -> tuple[Write, ...]:
        """Return the writes of proposals, starts and issues; none if too much is unknown.

        Our branches are pushed first: only pushes can conflict with other runs. Nothing is merged
        before all pull requests are written, and every branch is still where the run expects it.
        """
        if self.decision.writes_nothing:
            return tuple(self._closed())
        proposals = self.decision.proposals
        opened = [item for item in proposals if item.is_open]
        pushed = [item for item in opened if isinstance(item.commit, NewCommit)]
        pull_requests = [
            *(write for item in opened for write in self._open(item)),
            *(write for item in proposals for write in self._withdraw(item)),
        ]
        return (
            *self._sources_unmoved(),
            *(self._push(item) for item in pushed),
            *self._record_trees(pushed),
            *pull_requests,
            *self._closed(),
            *(self._branches_unmoved() if pushed or pull_requests else ()),
            *(write for item in opened for write in self._merge(item)),
            *self._lost_checks(),
            *self._issues(),
        )

    def _sources_unmoved(self) -> Iterator[Unmoved]:
        """Check the environment's branch, and bases without a commit.

        The run read them before the heads of our own branches.
        """
        sources = self.decision.snapshot.sources
        floating = [reading for base, reading in sources.bases if base.commit is None]
        for reading in (sources.own, *floating):
            revision = reading.revision
            message = f"the branch {revision.branch!r} has changed while it was read"
            url = revision.repository
            yield Unmoved(url, url, revision.branch, revision.commit, message)

    def _push(self, proposal: Proposal) -> Push:
        """Push the proposed tree as one commit on top of the GitOps branch."""
        branch = proposal.branch
        return push_of_proposal(
            branch,
            committed_files(proposal.changes, branch.folder),
            commit_message(proposal.proposed.digest),
            self.run.inputs.commit_by,
            requires_signatures=proposal.known.overview.requires_signatures,
        )

    def _record_trees(self, pushed: Sequence[Proposal]) -> Iterator[RecordTrees]:
        snapshot = self.decision.snapshot
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
            yield RecordTrees(self.run.control_plane, snapshot.environment.name, head, trees)

    def _open(self, proposal: Proposal) -> Iterator[OpenPullRequest]:
        """Open or update our pull request, unless GitHub has exactly this one."""
        branch, pull, commit = proposal.branch, proposal.pull, proposal.commit
        promoted = [PROMOTED] if proposal.proposed.is_promotion else []
        labels = (KALYPSO, *promoted, *self.run.inputs.labels)
        # A reopened pull request no longer counts as withdrawn.
        dropped = tuple({PROMOTED, WITHDRAWN}.difference(labels))
        missing = missing_labels(labels, pull.labels if pull else ())
        body: str | Later[str] | None = None
        if pull is None or proposal.writes:
            text = self._text(proposal)
            body = (
                _body(text, commit) if isinstance(commit, str) else Later(_body, text, commit, "")
            )
        elif not missing and missing_labels(dropped, pull.labels) == list(dropped):
            return
        yield OpenPullRequest(
            repository=branch.repository,
            head=branch.own_branch,
            base=branch.branch,
            title=self._title(proposal),
            body=body,
            commit=commit,
            known=pull,
            read_first=bool(pull or proposal.former_pull),
            labels=labels,
            dropped=dropped,
            # A new pull request may become a promotion later, in a run that makes more requests.
            new_labels=tuple(sorted(missing if pull else {*missing, PROMOTED})),
            repository_labels=proposal.known.overview.labels,
            former_labels=(WITHDRAWN,),
        )

    def _meaning(self, proposal: Proposal) -> ChangeMeaning:
        arrivals = self.details.arrivals.get(proposal.branch, Arrivals())
        return arrivals.meaning or proposal.meaning

    def _title(self, proposal: Proposal) -> str:
        """Return the title; a pull request whose text stays keeps its title."""
        if proposal.pull and not proposal.writes:
            return proposal.pull.title
        if self.run.inputs.title == "upstream":
            return pull_request.upstream_title(proposal.branch.branch, proposal.branch.own_branch)
        return self._meaning(proposal).title

    def _text(self, proposal: Proposal) -> PullRequestText:
        run, plan = self.run, self.decision.plan
        arrivals = self.details.arrivals.get(proposal.branch, Arrivals())
        is_allowed = run.inputs.allow_removals and proposal.is_mass_removal
        return PullRequestText(
            control_plane=run.control_plane,
            environment=plan.environment,
            commit="",
            assignments=len(plan.assignments),
            changes=proposal.changes,
            folder=proposal.branch.folder,
            main=CommitLink.on(run.url, plan.promoted_commit),
            before=CommitLink.on(run.url, proposal.proposed.branch_promoted_commit),
            meaning=self._meaning(proposal),
            title=run.inputs.title,
            waiting_for=proposal.waiting_for,
            held_at=self.decision.snapshot.held_at,
            auto_merge=proposal.merged_by,
            allowed_by=(run.actor or "Somebody") if is_allowed else "",
            left_out=LeftOutEntry.all_of(plan.left_out),
            again=proposal.decision.again,
            others=arrivals.others,
            warnings=ProblemEntry.all_of(plan.warnings),
            commits=arrivals.commits,
            comparison=arrivals.comparison,
        )

    def _withdraw(self, proposal: Proposal) -> Iterator[ClosePullRequest]:
        """Close our pull requests that this run does not propose, with a comment that says why."""
        branch, decision = proposal.branch, proposal.decision
        to = markdown.code(branch.branch)
        moved = f"Kalypso proposes to {to} from {markdown.code(branch.own_branch)} now."
        closing = [(pull, moved) for pull in proposal.known.of_role("stale")]
        if not proposal.is_open and decision.action != "wait":
            reason = (
                "The environment has changed since this proposal, and its present content was "
                f"rejected: {decision.reason}."
                if decision.action == "stop"
                else NOTHING_LEFT.format(to)
            )
            closing += [(pull, reason) for pull in (proposal.former_pull, proposal.pull) if pull]
        mark = markdown.marker("withdrawn", self.decision.plan.environment)
        for pull, reason in closing:
            yield ClosePullRequest(
                branch.repository, pull.number, mark, reason, pull.url, (WITHDRAWN,)
            )

    def _closed(self) -> Iterator[PostStatus | UpdateText]:
        """Say on our open pull requests whether the policy keeps people from merging them now.

        Those that this run does not write get it into their present text. While the policy has
        faults, all stay as they are.
        """
        decision, snapshot = self.decision, self.decision.snapshot
        if snapshot.policy.problems:
            return
        present: dict[tuple[str, int], PullRequest] = {}
        if decision.writes_nothing or not decision.proposals:
            for branch, known in zip(snapshot.branches, decision.known, strict=True):
                repository, name = branch.repository, snapshot.environment.name
                for pull in possible_pull_requests(
                    known.open_pulls, known.identity, name, repository, self.run.control_plane
                ):
                    present[repository, pull.number] = pull
        else:
            for proposal in decision.proposals:
                repository, known_pull = proposal.branch.repository, proposal.pull
                if proposal.is_open:
                    yield from self._policy_status(repository, proposal.commit, known_pull)
                elif known_pull and proposal.decision.action == "wait":
                    present[repository, known_pull.number] = known_pull
        for (repository, _), pull in present.items():
            yield from self._policy_status(repository, pull.head_commit, pull)
            text = pull_request.with_waiting(pull.body, snapshot.closed.description)
            if text != pull.body:
                yield UpdateText(repository, pull, text)

    def _policy_status(
        self, repository: str, commit: str | NewCommit, pull: PullRequest | None
    ) -> Iterator[PostStatus]:
        snapshot = self.decision.snapshot
        if snapshot.policy.policy or (pull and pull_request.says_waiting(pull.body)):
            status = policy_of_proposal(snapshot.closed.description)
            yield PostStatus(repository, commit, status, is_record=True)

    def _branches_unmoved(self) -> Iterator[Unmoved]:
        """Check that no other run has moved our branches, and that no proposed file has changed.

        Another run may have written a newer text of a pull request; a changed file would conflict.
        """
        for proposal in self.decision.proposals:
            branch = proposal.branch
            message = f"another run has moved the branch {branch.own_branch!r} meanwhile"
            commit = proposal.commit if proposal.is_open else branch.own_head
            yield Unmoved(branch.repository, branch.url, branch.own_branch, commit, message)
        for proposal in self.decision.proposals:
            branch = proposal.branch
            if proposal.is_open:
                message = f"the branch {branch.branch!r} has changed what is proposed"
                place = (branch.repository, branch.url, branch.branch, branch.head)
                yield Unmoved(*place, message, proposal.changes, branch.tree)

    def _merge(self, proposal: Proposal) -> Iterator[MergePullRequest | NoteRefusal]:
        """Merge the pull request if the inputs ask for it, and nothing speaks against it."""
        branch, pull = proposal.branch, proposal.pull
        if not proposal.merged_by:
            if pull and pull.mergeable is False and proposal.decision.action == "leave":
                # A new commit would conflict too.
                yield NoteRefusal(branch.repository, pull, branch.head)
            return
        merge = NewCommit(branch.repository, branch.branch)
        promoted_commit = proposal.meaning.commit if proposal.meaning.goes_on else ""
        start = self._check_promote(branch, merge, promoted_commit)
        title = shortened(harmless(self._title(proposal)))
        yield MergePullRequest(proposal.opened, proposal.commit, branch.head, pull, start, title)

    def _lost_checks(self) -> Iterator[StartWorkflow]:
        promoted_commit = self.decision.plan.promoted_commit or ""
        for branch, attempt in self.details.lost_checks:
            yield self._check_promote(branch, branch.head, promoted_commit, attempt)

    def _check_promote(
        self,
        branch: GitOpsBranch,
        gitops_commit: str | NewCommit,
        promoted_commit: str,
        attempt: int = 1,
    ) -> StartWorkflow:
        return check_promote_start(
            self.run.control_plane,
            self.run.inputs.check_promote_workflow,
            environment=self.decision.plan.environment,
            promoted_commit=promoted_commit,
            gitops_commit=gitops_commit,
            repository=branch.repository,
            attempt=attempt,
        )

    def _issues(self) -> Iterator[WriteIssue | CloseIssue]:
        """Keep one open issue for each failing assignment and each unusable registration.

        Beyond `max_issues` of each kind, one issue lists the others. Close issues about failures
        that are gone; keep those about preserved folders.
        """
        plan, known, identity = self.decision.plan, self.details.known_issues, self.details.identity
        if known is None or identity is None:
            return
        repository = self.decision.snapshot.branches[0].repository
        name, page = plan.environment, self.run.page
        ours = [issue for issue in known if is_own_issue(issue, identity, FAILURE_LABELS)]
        failing = [
            FailingAssignment(
                item.assignment.target.name, item.assignment.cluster_type.name, item.failure.problem
            )
            for item in plan.assignments
            if item.failure
        ]
        unusable = [
            UnusableRegistration(reading.registration.name, reading.problems)
            for reading in self.decision.snapshot.sources.registrations
            if reading.problems
        ]
        most = self.run.inputs.max_issues
        described = (
            *failure_issues.assignment_issues(failing, name, ours, most, page),
            *failure_issues.registration_issues(unusable, name, ours, most, page),
        )
        wanted = {issue.title: issue for issue in described}
        for issue in wanted.values():
            body = failure_issues.as_written(issue, ours)
            yield WriteIssue(repository, issue.title, body, FAILURE_LABELS, known)

        def is_unknown(cluster_type: str, target: str) -> bool:
            return any(folders.includes(cluster_type, target) for folders in plan.preserved)

        run = f" {markdown.link('This run', page)} confirmed it." if page else ""
        comment = f"The failure is solved, or what failed was removed.{run}"
        mark = markdown.marker("settled", name)
        for settled in failure_issues.settled(
            known, name, wanted, is_unknown, knows_all=not plan.preserved
        ):
            yield CloseIssue(repository, settled.number, settled.title, mark, comment)


def _body(text: PullRequestText, commit: str) -> str:
    return pull_request.body(replace(text, commit=commit))
