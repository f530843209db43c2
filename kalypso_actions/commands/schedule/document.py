"""The document of a run of schedule, and the record of its inputs, from what the run has done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kalypso_actions.clients.github.merging import Enabled, Merged, Refused
from kalypso_actions.commands.schedule import run_digest
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.details import Arrivals, WriteDetails
from kalypso_actions.commands.schedule.reading import BranchProposals
from kalypso_actions.commands.schedule.writes import ScheduleRun
from kalypso_actions.commands.shared.carry_out import Done
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.schedule_sources import our_pull_requests_among
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import Later, NewCommit, PostStatus
from kalypso_actions.promotion.lost_starts import inputs_digest
from kalypso_actions.promotion.start_records import TIME, StartRecord, schedule_context
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    LeftOutEntry,
    PositionEntry,
    ProblemEntry,
)
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.schedule_document import (
    AssignmentCell,
    PullRequestEntry,
    ScheduleDocument,
    ScheduleFacts,
    headline,
    schedule_summary,
)


def schedule_document(
    decision: ScheduleDecision, details: WriteDetails, position: BranchPosition | None, done: Done
) -> ScheduleDocument:
    """Return the document of a run that has `done` the writes of a decision, or none in a dry run.

    `position` is that of the environment's commit on main.
    """
    plan, proposals = decision.plan, decision.proposals
    entries = tuple(_entries(decision, done))
    first = next((entry for entry in entries if entry.action != "withdrawn"), None)
    warnings = [*decision.warnings, *done.warnings]
    if not decision.writes_nothing:
        warnings += (warning for item in proposals for warning in _merge_warnings(item, done))
        for item in proposals:
            warnings += item.warnings(details.arrivals.get(item.branch, Arrivals()).others)
    requeue_time = plan.schedule.requeue_time
    return ScheduleDocument(
        environment=plan.environment,
        main=PositionEntry.of(plan.environment, position) if position else None,
        changed=any(item.proposed.has_changes for item in proposals),
        promoted=any(item.proposed.is_promotion and item.is_open for item in proposals),
        degraded=plan.degraded,
        left_out=LeftOutEntry.all_of(plan.left_out),
        assignments=len(plan.assignments),
        requeue_time=f"{requeue_time:{TIME}}" if requeue_time else "",
        digest=proposals[0].proposed.digest if proposals else "",
        changes=ChangesEntry(
            added=plan.changes.added,
            modified=plan.changes.modified,
            deleted=plan.changes.deleted,
            unchanged=plan.changes.unchanged,
        ),
        pull_requests=entries,
        pull_request_number=first.number if first else None,
        pull_request_url=first.url if first else "",
        notes=ProblemEntry.all_of(plan.notes),
        acknowledged=AcknowledgedEntry.all_of(plan.acknowledged),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of((*decision.problems, *details.refusals, *done.problems)),
    )


def schedule_result(
    document: ScheduleDocument,
    decision: ScheduleDecision,
    done: Done,
    run: ScheduleRun,
    context: CommandContext,
) -> CommandResult:
    """Return the document with its page, and log the headline."""
    plan = decision.plan
    facts = ScheduleFacts(
        main=CommitLink.on(run.url, plan.promoted_commit),
        branches=[f"{item.repository}@{item.branch}" for item in decision.snapshot.branches],
        removed=decision.removed,
        stopped=any(item.decision.action == "stop" for item in decision.proposals),
        waiting_for=next(
            (item.waiting_for for item in decision.proposals if item.decision.action == "wait"), ""
        ),
        started=[page for _, page in done.pages],
        cells=tuple(
            AssignmentCell(
                item.assignment.target.name,
                item.assignment.target.workspace,
                item.assignment.cluster_type.name,
                failed=bool(item.failure),
            )
            for item in plan.assignments
        ),
    )
    if document.main:
        context.runtime.log(f"{document.main.text}.")
    context.runtime.log(f"{headline(document, facts)}.")
    summary = schedule_summary(document, facts)
    return CommandResult(document, summary, failed=bool(document.problems))


def _entries(decision: ScheduleDecision, done: Done) -> Iterator[PullRequestEntry]:
    """Yield the pull requests that are open or merged now, then those that the run has closed."""
    for proposal in () if decision.writes_nothing else decision.proposals:
        pull, action = done.pulls.get(proposal.opened, (proposal.pull, "unchanged"))
        if not proposal.is_open or pull is None:
            continue
        merge = done.merges.get((proposal.branch.repository, pull.number))
        if proposal.decision.action == "update" and action == "unchanged":
            action = "updated"
        yield PullRequestEntry(
            repository=proposal.branch.repository,
            number=pull.number,
            title=pull.title,
            url=pull.url,
            action="merged" if isinstance(merge, Merged) else action,
            auto_merge=isinstance(merge, Enabled),
        )
    for closed in done.closed:
        yield PullRequestEntry(
            repository=closed.repository, number=closed.number, url=closed.url, action="withdrawn"
        )


def _merge_warnings(proposal: Proposal, done: Done) -> Iterator[Problem]:
    """Yield why a pull request that the inputs ask to merge is not merged."""
    repository, reason = proposal.branch.repository, proposal.decision.hold
    pull, _ = done.pulls.get(proposal.opened, (proposal.pull, ""))
    if not proposal.is_open or not proposal.auto_merge or pull is None:
        return
    advice = "merge it yourself if it is wanted"
    merge = done.merges.get((repository, pull.number))
    if isinstance(merge, Refused):
        reason = merge.reason
        advice = (
            "merge it when it is ready, or allow auto-merge in the repository's settings; "
            "otherwise poll tries again when something has changed"
        )
    if reason:
        message = f"#{pull.number} is not merged automatically: {reason}"
        yield Problem(message, Location(repository), advice)


def schedule_record(
    decision: ScheduleDecision, details: WriteDetails, run: ScheduleRun
) -> tuple[PostStatus, ...]:
    """Return the record of the inputs on the head of the environment's branch, for poll.

    There is none if another run with the same inputs may have another result: GitHub refused a
    request, a registered repository could not be read, or a start with `force` still waits.
    """
    snapshot = decision.snapshot
    head, folders = snapshot.sources.own.revision.commit, snapshot.folders
    is_read = all(
        reading.is_readable or not (folders or {}).get(reading.registration.source)
        for reading in snapshot.sources.registrations
    )
    if folders is None or not head or not is_read or details.refusals:
        return ()
    shown = StartRecord("blocked" if decision.is_blocked else "scheduled", "digest of the inputs")
    status = shown.status(schedule_context(decision.plan.environment))
    record = PostStatus(
        run.control_plane,
        head,
        Later(_record, (decision, run), None, status),
        is_record=True,
        keeps_force=not run.inputs.force,
        if_complete=True,
    )
    return (record,)


def _record(given: tuple[ScheduleDecision, ScheduleRun], done: Done) -> CommitStatus:
    """Return the record's status after all other writes."""
    decision, run = given
    plan, snapshot = decision.plan, decision.snapshot
    branches = [
        _as_left(branch, known, decision, run.control_plane, done)
        for branch, known in zip(snapshot.branches, decision.known, strict=True)
    ]
    actions = {entry.action for entry in _entries(decision, done)}
    has_changes = any(item.proposed.has_changes for item in decision.proposals)
    is_unsettled = decision.is_blocked or plan.degraded or done.pages or actions or has_changes
    # An open pull request says that a freeze has begun, and GitHub then no longer merges it.
    is_open = bool(actions - {"merged", "withdrawn"})
    closes_at = snapshot.closes_at if is_open else None
    opens_at = snapshot.closed.again_at if is_open or has_changes else None
    times = filter(None, (plan.schedule.requeue_time, opens_at, closes_at))
    record = StartRecord(
        "blocked" if decision.is_blocked else "scheduled",
        inputs_digest(snapshot.folders or {}, branches),
        again_at=min(times, default=None),
    )
    code = "" if is_unsettled else run_digest(run.inputs, snapshot.environment)
    if code:
        record = replace(record, run=code, assignments=len(plan.assignments))
    return record.status(schedule_context(plan.environment))


def _as_left(
    branch: GitOpsBranch,
    known: BranchProposals,
    decision: ScheduleDecision,
    control_plane: str,
    done: Done,
) -> GitOpsBranch:
    """Return the branch as the run leaves it, with our open pull requests into it.

    Several trees may lie in one branch.
    """
    place = branch.repository, branch.branch
    ours = our_pull_requests_among(
        known.open_pulls,
        known.identity,
        decision.plan.environment,
        branch.repository,
        control_plane,
    )
    heads = {pull.number: pull.head_commit for pull in ours}
    for proposal in () if decision.writes_nothing else decision.proposals:
        pull, _ = done.pulls.get(proposal.opened, (proposal.pull, ""))
        other = proposal.branch
        if (other.repository, other.branch) == place and proposal.is_open and pull:
            heads[pull.number] = done.commit(proposal.commit)
    closed = {
        entry.number
        for entry in _entries(decision, done)
        if entry.repository == branch.repository and entry.action in {"withdrawn", "merged"}
    }
    return replace(
        branch,
        head=done.commits.get(NewCommit(*place), branch.head),
        own_pulls={number: commit for number, commit in heads.items() if number not in closed},
    )
