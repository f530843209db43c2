"""check-promote, started by schedule where no push to a GitOps repository starts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.clients.github import commits, statuses
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.dispatch import start_check_promote
from kalypso_actions.commands.schedule.propose import Proposition
from kalypso_actions.commands.schedule.publish import Published
from kalypso_actions.gitops.touched import touches
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.promotion import meaning_of_push, start_records
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.start_records import StartRecord, read_record
from kalypso_actions.promotion.verification import AFTER

Statuses = Mapping[str, CommitStatus]
"""The latest status of each context, by the context in lower case."""


def start_after_merge(
    published: Published, sources: Snapshot, inputs: ScheduleInputs, context: CommandContext
) -> str:
    """Start what the push of a person's merge would start: GitHub starts nothing for ours.

    Returns the run's page. Raises GitHubError.
    """
    proposed = published.proposition.proposed
    meaning = meaning_of_push(
        proposed.base_tracking,
        proposed.tracking,
        goes_back=False,
        base_commit=proposed.tracking,
        latest=_of_environment(_statuses(sources, context), sources),
    )
    return _start(published.proposition, published.merge_commit, meaning.commit, inputs, context)


def start_lost(
    propositions: Sequence[Proposition],
    sources: Snapshot,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> list[str]:
    """Start check-promote for merges that it does not know.

    All GitOps branches of the environment must hold the promoted commit's whole tree. Returns the
    runs' pages. Raises KalypsoError.
    """
    commit = sources.promoted_commit
    done = all(one.decision.action in {"none", "withdraw"} for one in propositions)
    holds = all(one.proposed.base_tracking == commit for one in propositions)
    if commit is None or not (done and holds):
        return []
    found = _statuses(sources, context)
    by_repository = {one.state.repository.lower(): one for one in reversed(propositions)}
    return [
        _start(one, one.state.commit, commit, inputs, context, attempt)
        for one in by_repository.values()
        if (attempt := _next_attempt(one, sources, found, context))
    ]


def _next_attempt(
    proposition: Proposition, sources: Snapshot, found: Statuses, context: CommandContext
) -> int:
    """The attempt to make with the branch's head; 0 where none is to be made."""
    state = proposition.state
    status_context = start_records.check_promote_context(sources.environment, state.repository)
    record = read_record(found.get(status_context.lower()))
    latest = _of_environment(found, sources)
    is_lost = start_records.is_lost_check(
        latest,
        record,
        state.commit,
        is_before_merge=table.is_before_merge(latest),
        has_failed=table.has_failed(latest),
    ) and (
        record is None
        or record.subject == state.commit
        or _has_changed(proposition, record, context)
    )
    made = record.attempt if record and record.subject == state.commit else 0
    return made + 1 if is_lost and made < start_records.MOST_ATTEMPTS else 0


def _has_changed(proposition: Proposition, record: StartRecord, context: CommandContext) -> bool:
    """Whether the branch differs from the commit that check-promote looked at, as clusters see it.

    A commit that is gone, as after a forced push, counts as another content.
    """
    state = proposition.state
    if not is_commit_id(record.subject):
        return True
    relation = commits.relation(context.github, state.repository, record.subject, state.commit)
    if relation not in AFTER:
        return True
    before = context.repositories.open(state.url, commit=record.subject).entries()
    return touches(before, state.tree.entries, state.tree.path)


def _of_environment(found: Statuses, sources: Snapshot) -> CommitStatus | None:
    return found.get(table.context(sources.environment).lower())


def _statuses(sources: Snapshot, context: CommandContext) -> Statuses:
    """Those of the promoted commit, where it is the control plane's."""
    commit = sources.promoted_commit
    mains = [base.source.repo for base, _ in sources.bases if base.name == MAIN_BASE_REPO]
    own = repository_key(context.url(context.control_plane))
    if commit is None or [repository_key(url) for url in mains] != [own]:
        return {}
    return statuses.latest(context.github, context.control_plane, commit)


def _start(
    proposition: Proposition,
    commit: str,
    promoted: str,
    inputs: ScheduleInputs,
    context: CommandContext,
    attempt: int = 1,
) -> str:
    return start_check_promote(
        context,
        inputs.check_promote_workflow,
        environment=inputs.environment,
        promoted_commit=promoted,
        gitops_commit=commit,
        repository=proposition.state.repository,
        attempt=attempt,
    )
