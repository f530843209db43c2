"""The document of a run of schedule, and the record of its inputs, from what the run has done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kalypso_actions.clients.github.auto_merges import Enabled
from kalypso_actions.clients.github.merging import Merged, Refused
from kalypso_actions.commands.schedule.at_rest import run_digest
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.details import WriteDetails
from kalypso_actions.commands.schedule.reading import BranchProposals, EnvironmentSnapshot
from kalypso_actions.commands.schedule.writes import RunFacts
from kalypso_actions.commands.shared.carry_out import Done
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.schedule_inputs import our_pull_requests_among
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import Later, PostStatus
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.plan import Plan
from kalypso_actions.promotion.schedule_inputs_digest import inputs_digest
from kalypso_actions.promotion.start_records import TIME, StartRecord, schedule_context
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


def schedule_document(
    plan: Plan,
    decision: ScheduleDecision,
    details: WriteDetails,
    position: BranchPosition | None,
    done: Done,
) -> ScheduleDocument:
    """Return the document of a run that has `done` the writes of a decision, or none in a dry run.

    `position` is that of the environment's commit on main.
    """
    proposals = decision.proposals
    entries = tuple(_entries(decision, done))
    first = next((entry for entry in entries if entry.action != "withdrawn"), None)
    warnings = [*decision.warnings, *done.warnings]
    if not decision.writes_nothing:
        for proposal in proposals:
            warnings += _merge_warnings(proposal, done)
        for proposal in proposals:
            arrivals = details.arrivals.get(proposal.branch)
            warnings += proposal.warnings(arrivals.others if arrivals else ())
    problems = (*decision.problems, *details.refusals, *done.problems)
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
        problems=ProblemEntry.all_of(problems),
    )


def schedule_result(
    document: ScheduleDocument,
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    decision: ScheduleDecision,
    done: Done,
    facts: RunFacts,
    context: CommandContext,
) -> CommandResult:
    """Return the document with its page, and log the headline."""
    summary_facts = ScheduleFacts(
        main=facts.commit_link(plan.promoted_commit),
        branches=[f"{branch.repository}@{branch.branch}" for branch in snapshot.branches],
        removed=decision.removed,
        stopped=any(item.decision.action == "stop" for item in decision.proposals),
        started=[page for _, page in done.pages],
        cells=tuple(map(_cell, plan.assignments)),
    )
    if document.main:
        context.runtime.log(f"{document.main.text}.")
    context.runtime.log(f"{headline(document, summary_facts)}.")
    summary = schedule_summary(document, summary_facts)
    return CommandResult(document, summary, failed=bool(document.problems))


def _entries(decision: ScheduleDecision, done: Done) -> Iterator[PullRequestEntry]:
    """Yield the pull requests that are open or merged now, then those that the run has closed."""
    if decision.writes_nothing:
        return
    for proposal in decision.proposals:
        branch = proposal.branch
        key = branch.repository, branch.own_branch, branch.branch
        pull, outcome = done.pulls.get(key, (proposal.pull, "unchanged"))
        if not proposal.is_open or pull is None:
            continue
        is_updated = proposal.decision.action == "update" or outcome == "updated"
        merge = done.merges.get((branch.repository, pull.number))
        yield PullRequestEntry(
            repository=branch.repository,
            number=pull.number,
            url=pull.url,
            action="merged"
            if isinstance(merge, Merged)
            else "created"
            if outcome == "created"
            else "updated"
            if is_updated
            else "unchanged",
            auto_merge=isinstance(merge, Enabled),
        )
    for closed in done.closed:
        yield PullRequestEntry(
            repository=closed.repository, number=closed.number, url=closed.url, action="withdrawn"
        )


def _merge_warnings(proposal: Proposal, done: Done) -> Iterator[Problem]:
    """Yield why a pull request that the inputs ask to merge is not merged."""
    branch = proposal.branch
    key = branch.repository, branch.own_branch, branch.branch
    pull, _ = done.pulls.get(key, (proposal.pull, ""))
    if not proposal.is_open or not proposal.auto_merge or pull is None:
        return
    advice = "merge it yourself if it is wanted"
    reason = proposal.decision.hold
    merge = done.merges.get((branch.repository, pull.number))
    if isinstance(merge, Refused):
        reason = merge.reason
        advice = (
            "merge it when it is ready, or allow auto-merge in the repository's settings; "
            "otherwise poll tries again when something has changed"
        )
    if reason:
        message = f"#{pull.number} is not merged automatically: {reason}"
        yield Problem(message, Location(branch.repository), advice)


def _cell(item: PlannedAssignment) -> AssignmentCell:
    target = item.assignment.target
    cluster_type = item.assignment.cluster_type.name
    return AssignmentCell(target.name, target.workspace, cluster_type, failed=bool(item.failure))


@dataclass(frozen=True, slots=True)
class _RecordFacts:
    """What the record of a run depends on besides what the run has done."""

    snapshot: EnvironmentSnapshot
    plan: Plan
    decision: ScheduleDecision
    known: tuple[BranchProposals, ...]
    control_plane: str
    run: str


def schedule_record(
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    decision: ScheduleDecision,
    known: tuple[BranchProposals, ...],
    details: WriteDetails,
    inputs: ScheduleInputs,
    control_plane: str,
) -> tuple[PostStatus, ...]:
    """Return the record of the inputs on the head of the environment's branch, for poll.

    There is none if another run with the same inputs may have another result: GitHub refused a
    request, a registered repository could not be read, or a start with `force` still waits.
    """
    head, folders = snapshot.sources.own.revision.commit, snapshot.folders
    is_read = all(
        reading.is_readable or not (folders or {}).get(reading.registration.source)
        for reading in snapshot.sources.registrations
    )
    if folders is None or not head or not is_read or details.refusals:
        return ()
    run = "" if decision.is_blocked else run_digest(inputs, snapshot.environment)
    facts = _RecordFacts(snapshot, plan, decision, known, control_plane, run)
    shown = StartRecord("blocked" if decision.is_blocked else "scheduled", "digest of the inputs")
    status_context = schedule_context(snapshot.environment.name)
    record = PostStatus(
        repository=control_plane,
        commit=head,
        status=Later(_record_status, facts, None, shown.status(status_context)),
        is_record=True,
        keeps_force=not inputs.force,
        if_complete=True,
    )
    return (record,)


def _record_status(facts: _RecordFacts, done: Done) -> CommitStatus:
    """Return the status after all other writes."""
    snapshot, plan, decision = facts.snapshot, facts.plan, facts.decision
    entries = tuple(_entries(decision, done))
    branches = [
        _as_left(branch, known, entries, facts, done)
        for branch, known in zip(snapshot.branches, facts.known, strict=True)
    ]
    left_nothing = not (
        plan.degraded
        or entries
        or done.pages
        or any(item.proposed.has_changes for item in decision.proposals)
    )
    run = facts.run if left_nothing else ""
    record = StartRecord(
        "blocked" if decision.is_blocked else "scheduled",
        inputs_digest(snapshot.folders or {}, branches),
        again_at=plan.schedule.requeue_time,
        assignments=len(plan.assignments) if run else 0,
        run=run,
    )
    return record.status(schedule_context(snapshot.environment.name))


def _as_left(
    branch: GitOpsBranch,
    known: BranchProposals,
    entries: tuple[PullRequestEntry, ...],
    facts: _RecordFacts,
    done: Done,
) -> GitOpsBranch:
    """Return the branch as the run leaves it, with our open pull requests into it.

    Several trees may lie in one branch.
    """
    name, repository = facts.snapshot.environment.name, branch.repository
    listed = our_pull_requests_among(
        known.open_pulls, known.identity, name, repository, facts.control_plane
    )
    heads = {pull.number: pull.head_commit for pull in listed}
    for proposal in facts.decision.proposals:
        place = proposal.branch
        key = place.repository, place.own_branch, place.branch
        pull, _ = done.pulls.get(key, (proposal.pull, ""))
        same = (place.repository, place.branch) == (repository, branch.branch)
        if same and proposal.is_open and pull and not facts.decision.writes_nothing:
            heads[pull.number] = done.commit(proposal.commit)
    closed = {
        entry.number
        for entry in entries
        if entry.repository == repository and entry.action in {"withdrawn", "merged"}
    }
    return replace(
        branch,
        head=done.commits.get((repository, branch.branch), branch.head),
        own_pulls={number: commit for number, commit in heads.items() if number not in closed},
    )
