"""Write a proposal: push the branch, write, merge or close the pull request, start check-promote.

Each function is idempotent: the next run completes the work of a run that was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.github import (
    auto_merges,
    commits,
    labels,
    merging,
    pull_requests,
)
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.carry_out import push as carry_out_push
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import KALYPSO, PROMOTED, WITHDRAWN, make_labels
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState
from kalypso_actions.commands.shared.tree_records import record_trees
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.github import ON_BRANCH, CommitStatus, PullRequest
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.model.writes import Push
from kalypso_actions.promotion import start_records
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.merges import meaning_of_push
from kalypso_actions.promotion.starts import check_promote_start, next_check_attempt
from kalypso_actions.report import markdown, pull_request, pull_request_mark
from kalypso_actions.report.pull_request import PullRequestText
from kalypso_actions.report.schedule_document import PullRequestEntry

NOTHING_LEFT: Final = (
    "{} has everything that the environment is to have: there is nothing to propose any more."
)


@dataclass(frozen=True, slots=True)
class Published:
    """A pull request with the head `commit`; `merge_commit` is "" unless this run merged it."""

    proposal_plan: ProposalPlan
    entry: PullRequestEntry
    pull: PullRequest
    commit: str
    merge_commit: str = ""
    warnings: tuple[Problem, ...] = ()


def push(proposal_plan: ProposalPlan, inputs: ScheduleInputs, context: CommandContext) -> str:
    """Push the proposed tree as one commit on top of the GitOps branch; return the commit.

    Push nothing if our branch already has this commit. Raises PushConflictError if another run
    moved the branch.
    """
    state, own_branch = proposal_plan.state, proposal_plan.own_branch
    proposal = proposal_plan.proposal
    head = state.own_head
    is_pushed = proposal_plan.decision.action == "leave"
    if own_branch and own_branch.fits and own_branch.parent == state.commit:
        key = (own_branch.digest, own_branch.promoted_commit)
        is_pushed = is_pushed or key == (proposal.digest, proposal.promoted_commit)
    if head and is_pushed:
        context.github.recent_writes.add_push(state.repository, state.own_branch, head)
        return head
    write = Push(
        repository=state.repository,
        url=state.url,
        branch=state.own_branch,
        base=state.branch,
        expected=head,
        parent=state.commit,
        changes=gitops.committed_files(proposal_plan.changes, state.tree.path),
        message=gitops.commit_message(proposal.digest),
        requires_signatures=proposal_plan.overview.requires_signatures,
        commit_by=inputs.commit_by,
    )
    commit = carry_out_push(write, context)
    context.runtime.log(f"{state.repository}: {state.own_branch} is at {commit[:7]}")
    return commit


def record_pushed_trees(
    pushed: Iterable[tuple[ProposalPlan, str]], read: EnvironmentSnapshot, context: CommandContext
) -> None:
    """Record the trees of new commits, so that later runs can copy folders from them.

    Raises GitHubError.
    """
    head = read.sources.own.revision.commit
    written = []
    for proposal_plan, commit in pushed:
        state = proposal_plan.state
        if commit != state.own_head:
            path = state.tree.path
            sources = proposal_plan.changes.content(
                f"{path}/{SOURCES_FILE}" if path else SOURCES_FILE
            )
            files = context.repositories.open(state.url, commit=commit)
            written.append(gitops.tree_id(sources, files.folder_ids(path)))
    if head and written:
        record_trees(context, read.environment.name, head, written)


def publish(
    proposal_plan: ProposalPlan,
    text: PullRequestText,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> Published:
    """Open or update the pull request of our branch, with the head `text.commit`."""
    state, pull = proposal_plan.state, proposal_plan.pull
    is_promotion = proposal_plan.proposal.is_promotion
    wanted = [KALYPSO, *([PROMOTED] if is_promotion else []), *inputs.labels]
    outcome = "unchanged"
    if pull is None or proposal_plan.writes or labels.missing(wanted, pull.labels):
        # The repository has the labels that the pull request has. A new pull request may become a
        # promotion later, in a run that makes more requests than this one.
        needed = labels.missing(wanted, pull.labels) if pull else {*wanted, PROMOTED}
        make_labels(state.repository, sorted(needed), context, proposal_plan.overview.labels)
        pull, outcome = pull_requests.ensure(
            context.github,
            state.repository,
            head=state.own_branch,
            base=state.branch,
            title=pull_request.title(state.branch, state.own_branch),
            body=pull_request.body(text) if proposal_plan.writes or pull is None else pull.body,
            labels=wanted,
            replaced_labels=[WITHDRAWN],
            read_first=bool(pull or proposal_plan.former_pull),
        )
    # A reopened pull request no longer counts as withdrawn.
    for name in {PROMOTED, WITHDRAWN}.difference(wanted):
        if not labels.missing([name], pull.labels):
            labels.remove(context.github, state.repository, pull.number, name)
            outcome = "updated"
    pushed = proposal_plan.decision.action == "update" or outcome == "updated"
    action = "created" if outcome == "created" else "updated" if pushed else "unchanged"
    entry = PullRequestEntry(
        repository=state.repository, number=pull.number, url=pull.url, action=action
    )
    context.runtime.log(f"{state.repository}: pull request #{pull.number} {action}: {pull.url}")
    return Published(proposal_plan, entry, pull, text.commit)


def withdraw(
    proposal_plan: ProposalPlan, environment: str, context: CommandContext
) -> Iterator[PullRequestEntry]:
    """Close our pull requests that this run does not propose, with a comment that says why."""
    state, decision = proposal_plan.state, proposal_plan.decision
    to = markdown.code(state.branch)
    closing = [
        (pull, f"Kalypso proposes to {to} from {markdown.code(state.own_branch)} now.")
        for pull in proposal_plan.stale_pulls
    ]
    if not proposal_plan.is_open:
        reason = (
            "This is not what the environment is to have any more, and what it is to have was "
            f"rejected: {decision.reason}."
            if decision.action == "stop"
            else NOTHING_LEFT.format(to)
        )
        pulls = (proposal_plan.former_pull, proposal_plan.pull)
        closing += [(pull, reason) for pull in pulls if pull]
    if closing:
        make_labels(state.repository, [WITHDRAWN], context)
    for pull, reason in closing:
        mark = markdown.marker("withdrawn", environment)
        closed = pull_requests.close(
            context.github,
            state.repository,
            pull.number,
            mark=mark,
            comment=reason,
            labels=[WITHDRAWN],
        )
        if closed:
            context.runtime.log(f"{state.repository}: pull request #{pull.number} withdrawn")
            yield PullRequestEntry(
                repository=state.repository, number=pull.number, url=pull.url, action="withdrawn"
            )


def merge(published: Published, context: CommandContext) -> Published:
    """Merge the pull request at exactly its commit, if the inputs ask for it.

    If GitHub refuses, the pull request stays open.
    """
    proposal_plan = published.proposal_plan
    state = proposal_plan.state
    where = Location(state.repository)
    number = published.pull.number
    if published.pull.mergeable is False and proposal_plan.decision.action == "leave":
        _note_refusal(published, published.pull, context)  # a new commit would conflict too
    if not proposal_plan.auto_merge:
        return published
    if proposal_plan.decision.hold:
        message = f"#{number} is not merged automatically: {proposal_plan.decision.hold}"
        advice = "merge it yourself if it is wanted"
        return replace(published, warnings=(Problem(message, where, advice),))
    before = pull_requests.get(context.github, state.repository, number)
    merged = auto_merges.merge_when_allowed(
        context.github, state.repository, number, head=published.commit
    )
    if not isinstance(merged, merging.Merged):
        _note_refusal(published, before, context)
    if isinstance(merged, auto_merges.Enabled):
        context.runtime.log(
            f"{state.repository}: GitHub merges #{number} when its rules allow it: {merged.reason}"
        )
        entry = published.entry.model_copy(update={"auto_merge": True})
        return replace(published, entry=entry)
    if isinstance(merged, merging.Refused):
        message = f"#{number} is not merged automatically: {merged.reason}"
        advice = (
            "merge it when it is ready, or allow auto-merge in the repository's settings; "
            "otherwise poll tries again when something has changed"
        )
        return replace(published, warnings=(Problem(message, where, advice),))
    context.runtime.log(f"{state.repository}: pull request #{number} merged")
    entry = published.entry.model_copy(update={"action": "merged"})
    return replace(published, entry=entry, merge_commit=merged.commit)


def _note_refusal(published: Published, before: PullRequest, context: CommandContext) -> None:
    """Write the state of the refused merge into the body, so that poll tries each state once."""
    state = published.proposal_plan.state
    mark = pull_request_mark.read_mark(before.body)
    if mark is None:
        return
    tried = replace(mark, tried=(state.commit, before.merge_state))
    # GitHub may merge it at any moment: edit it by number, also if it is closed.
    body = pull_request_mark.marked(before.body, tried)
    pull_requests.set_texts(context.github, state.repository, before, before.title, body)


def start_after_merge(
    published: Published, sources: Snapshot, inputs: ScheduleInputs, context: CommandContext
) -> str:
    """Start check-promote after our own merge, for which GitHub starts no workflow.

    Returns the run's page. Raises GitHubError.
    """
    proposal = published.proposal_plan.proposal
    meaning = meaning_of_push(
        proposal.branch_promoted_commit,
        proposal.promoted_commit,
        goes_back=False,
        environment_commit=proposal.promoted_commit,
        latest=_statuses(sources, context).get(table.context(sources.environment).lower()),
    )
    state = published.proposal_plan.state
    return _start(state, published.merge_commit, meaning.promoted_commit, inputs, context)


def start_lost_checks(
    proposals: Sequence[ProposalPlan],
    sources: Snapshot,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> list[str]:
    """Start check-promote for merges whose start may be lost; return the pages of the runs.

    Start none unless all GitOps branches have the whole tree of the promoted commit. Raises
    KalypsoError.
    """
    promoted_commit = sources.promoted_commit
    if promoted_commit is None or not all(
        item.is_merged and item.proposal.branch_promoted_commit == promoted_commit
        for item in proposals
    ):
        return []
    posted = _statuses(sources, context)
    latest = posted.get(table.context(sources.environment).lower())
    states = {item.state.repository.lower(): item.state for item in reversed(proposals)}
    started = []
    for state in states.values():
        record_context = start_records.check_promote_context(sources.environment, state.repository)
        attempt = next_check_attempt(
            latest,
            start_records.read_record(posted.get(record_context.lower())),
            state.commit,
            has_changed=partial(_has_changed, state, context),
        )
        if attempt:
            started.append(_start(state, state.commit, promoted_commit, inputs, context, attempt))
    return started


def _has_changed(state: GitOpsState, context: CommandContext, gitops_commit: str) -> bool:
    """Whether the manifests on the branch differ from those of an earlier commit.

    A commit that is gone, as after a forced push, counts as a change.
    """
    if not is_commit_id(gitops_commit):
        return True
    relation = commits.relation(context.github, state.repository, gitops_commit, state.commit)
    if relation not in ON_BRANCH:
        return True
    before = context.repositories.open(state.url, commit=gitops_commit).entries()
    return gitops.touches(before, state.tree.entries, state.tree.path)


def _statuses(sources: Snapshot, context: CommandContext) -> Mapping[str, CommitStatus]:
    """Return the latest statuses of the promoted commit by context, in lower case.

    They are empty if main lies outside of the control plane.
    """
    mains = [base.source.repo for base, _ in sources.bases if base.name == MAIN_BASE_REPO]
    own = repository_key(context.url(context.control_plane))
    if sources.promoted_commit is None or [repository_key(url) for url in mains] != [own]:
        return {}
    return own_statuses(context, sources.promoted_commit)


def _start(
    state: GitOpsState,
    gitops_commit: str,
    promoted_commit: str,
    inputs: ScheduleInputs,
    context: CommandContext,
    attempt: int = 1,
) -> str:
    start = check_promote_start(
        context.control_plane,
        inputs.check_promote_workflow,
        environment=inputs.environment,
        promoted_commit=promoted_commit,
        gitops_commit=gitops_commit,
        repository=state.repository,
        attempt=attempt,
    )
    return carry_out([start], context).page
