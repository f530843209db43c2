"""The result of a run of schedule: the document, the page, and the record for poll."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from kalypso_actions.clients.github import GitHubError
from kalypso_actions.commands.schedule.commit_link import commit_link
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.publish import Published
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.dispatch import post_record
from kalypso_actions.commands.shared.own_statuses import latest_record
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.schedule_inputs import (
    our_pull_requests,
    our_pull_requests_among,
)
from kalypso_actions.errors import Problem
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.plan import Plan
from kalypso_actions.promotion.schedule_inputs_digest import GitOpsBranchState, inputs_digest
from kalypso_actions.promotion.schedule_runs import is_served
from kalypso_actions.promotion.start_records import TIME, Kind, StartRecord, schedule_context
from kalypso_actions.report.assignment_matrix import AssignmentCell
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    LeftOutEntry,
    PositionEntry,
    ProblemEntry,
)
from kalypso_actions.report.schedule_document import PullRequestEntry, ScheduleDocument
from kalypso_actions.report.schedule_summary import ScheduleFacts, headline, schedule_summary


@dataclass(slots=True)
class Results:
    """The results of a run so far.

    `entries` are the pull requests, `started` the pages of check-promote's runs; `removed` are the
    folders of a mass removal without permission. `is_complete`: GitHub has refused no request.
    """

    warnings: list[Problem]
    problems: list[Problem]
    entries: list[PullRequestEntry] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    removed: tuple[str, ...] = ()
    published: list[Published] = field(default_factory=list)
    is_complete: bool = True

    def add(self, published: Published) -> None:
        """Add an open or merged pull request."""
        self.published.append(published)
        self.entries.append(published.entry)
        self.warnings += published.warnings

    @contextmanager
    def collecting_refusals(self) -> Iterator[None]:
        """Add GitHub's errors to the problems, so that the run reports its earlier writes."""
        try:
            yield
        except GitHubError as error:
            self.problems += error.problems
            self.is_complete = False


def build_result(
    results: Results,
    plan: Plan,
    branches: Sequence[str],
    proposals: Sequence[ProposalPlan],
    position: BranchPosition | None,
    context: CommandContext,
) -> CommandResult:
    """Return the document and the page; `branches` are names of the GitOps branches for people."""
    first = next((entry for entry in results.entries if entry.action != "withdrawn"), None)
    document = ScheduleDocument(
        environment=plan.environment,
        main=PositionEntry.of(plan.environment, position) if position else None,
        changed=any(item.proposal.has_changes for item in proposals),
        promoted=any(item.proposal.is_promotion and item.is_open for item in proposals),
        degraded=plan.degraded,
        left_out=LeftOutEntry.all_of(plan.left_out),
        assignments=len(plan.assignments),
        requeue_time=_text(plan.schedule.requeue_time),
        digest=proposals[0].proposal.digest if proposals else "",
        changes=ChangesEntry(
            added=plan.changes.added,
            modified=plan.changes.modified,
            deleted=plan.changes.deleted,
            unchanged=plan.changes.unchanged,
        ),
        pull_requests=tuple(results.entries),
        pull_request_number=first.number if first else None,
        pull_request_url=first.url if first else "",
        notes=ProblemEntry.all_of(plan.notes),
        acknowledged=AcknowledgedEntry.all_of(plan.acknowledged),
        warnings=ProblemEntry.all_of(results.warnings),
        problems=ProblemEntry.all_of(results.problems),
    )
    facts = ScheduleFacts(
        main=commit_link(plan.promoted_commit, context),
        branches=branches,
        removed=results.removed,
        stopped=any(item.decision.action == "stop" for item in proposals),
        started=results.started,
        cells=tuple(map(_cell, plan.assignments)),
    )
    if document.main:
        context.runtime.log(f"{document.main.text}.")
    context.runtime.log(f"{headline(document, facts)}.")
    return CommandResult(document, schedule_summary(document, facts), failed=bool(results.problems))


def _text(time: datetime | None) -> str:
    return f"{time:{TIME}}" if time else ""


def record_schedule(
    read: EnvironmentSnapshot,
    plan: Plan,
    proposals: Sequence[ProposalPlan],
    results: Results,
    context: CommandContext,
    *,
    force: bool,
    run: str,
) -> None:
    """Post the digest of the inputs on the head of the environment's branch.

    `run` is the digest of code and options if the run has left nothing to do, else "".

    Post nothing if another run with the same inputs may have another result: GitHub refused a
    request, a registered repository could not be read, or a start with `force` still waits. Raises
    GitHubError.
    """
    head = read.sources.own.revision.commit
    is_read = all(
        reading.is_readable or not (read.folders or {}).get(reading.registration.source)
        for reading in read.sources.registrations
    )
    if read.folders is None or not head or not (is_read and results.is_complete):
        return
    status_context = schedule_context(read.environment.name)
    latest = latest_record(context, head, status_context)
    if not is_served(latest, force=force):
        return
    listed = {item.state.name: item.open_pulls for item in proposals}
    branches = [
        _branch_state(state, listed.get(state.name), read, results, context)
        for state in read.states
    ]
    digest = inputs_digest(read.folders, branches)
    is_blocked = bool(plan.faults or plan.problems or results.removed)
    kind: Kind = "blocked" if is_blocked else "scheduled"
    record = StartRecord(
        kind,
        digest,
        again_at=plan.schedule.requeue_time,
        assignments=len(plan.assignments) if run else 0,
        run=run,
    )
    is_new = latest is not None and latest.description != record.description
    post_record(context, head, status_context, record, is_new=is_new)


def _branch_state(
    state: GitOpsState,
    open_pulls: Sequence[PullRequest] | None,
    read: EnvironmentSnapshot,
    results: Results,
    context: CommandContext,
) -> GitOpsBranchState:
    """Return the branch as this run leaves it.

    `open_pulls` are the pull requests into it before the run has written; None: not known.
    """
    name, repository = read.environment.name, state.repository
    if open_pulls is None:
        listed = our_pull_requests(context, name, repository, state.branch)
    else:
        listed = our_pull_requests_among(open_pulls, context, name, repository)
    # Several trees may lie in one branch.
    branch = (state.repository, state.branch)
    ours = [
        item
        for item in results.published
        if (item.proposal_plan.state.repository, item.proposal_plan.state.branch) == branch
    ]
    closed = {
        entry.number
        for entry in results.entries
        if entry.repository == state.repository and entry.action in {"withdrawn", "merged"}
    }
    heads = {pull.number: pull.head_commit for pull in listed}
    heads |= {item.pull.number: item.commit for item in ours}
    merges = [item.merge_commit for item in ours if item.merge_commit]
    return GitOpsBranchState(
        state.repository,
        state.branch,
        merges[-1] if merges else state.commit,
        {number: commit for number, commit in heads.items() if number not in closed},
    )


def _cell(item: PlannedAssignment) -> AssignmentCell:
    target = item.assignment.target
    cluster_type = item.assignment.cluster_type.name
    return AssignmentCell(target.name, target.workspace, cluster_type, failed=bool(item.failure))
