"""The status by which poll knows what schedule has looked at."""

from __future__ import annotations

from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.dispatch import post_record
from kalypso_actions.commands.runtime.environment_snapshot import EnvironmentSnapshot
from kalypso_actions.commands.runtime.open_pull_requests import our_pull_requests
from kalypso_actions.commands.schedule.publish import Published
from kalypso_actions.commands.schedule.result import Results
from kalypso_actions.plan import Plan
from kalypso_actions.promotion.schedule_inputs import GitOpsBranchState, inputs_digest
from kalypso_actions.promotion.start_records import StartRecord, schedule_context
from kalypso_actions.snapshot.gitops_state import GitOpsState


def record_schedule(
    read: EnvironmentSnapshot, plan: Plan, results: Results, context: CommandContext
) -> None:
    """Post the digest of the inputs on the head of the environment's branch.

    Nothing is posted where another run may come to another result with the same inputs: where
    GitHub has refused anything, or a registered repository could not be read. Raises GitHubError.
    """
    head = read.sources.own.revision.commit
    is_read = all(
        one.is_readable or not (read.folders or {}).get(one.registration.source)
        for one in read.sources.registrations
    )
    if read.folders is None or not head or not (is_read and results.is_complete):
        return
    branches = [_branch(one, read, results, context) for one in read.states]
    digest = inputs_digest(read.folders, branches)
    is_blocked = bool(plan.faults or plan.problems or results.removed)
    record = StartRecord("blocked" if is_blocked else "scheduled", digest)
    post_record(context, head, schedule_context(read.environment.name), record)


def _branch(
    state: GitOpsState, read: EnvironmentSnapshot, results: Results, context: CommandContext
) -> GitOpsBranchState:
    """The branch as this run leaves it: GitHub's lists may not show yet what it has written."""
    listed = our_pull_requests(context, read.environment.name, state.repository, state.branch)
    ours = [one for one in results.published if _is_in(one, state)]
    closed = {
        entry.number
        for entry in results.entries
        if entry.repository == state.repository and entry.action in {"withdrawn", "merged"}
    }
    written = {one.pull.number: one.commit for one in ours}
    open_ones = {one.number: one.head_commit for one in listed} | written
    merges = [one.merge_commit for one in ours if one.merge_commit]
    return GitOpsBranchState(
        state.repository,
        state.branch,
        merges[-1] if merges else state.commit,
        {number: commit for number, commit in open_ones.items() if number not in closed},
    )


def _is_in(published: Published, state: GitOpsState) -> bool:
    """Whether the pull request goes into this branch; several trees may lie in one."""
    other = published.proposition.state
    return (other.repository, other.branch) == (state.repository, state.branch)
