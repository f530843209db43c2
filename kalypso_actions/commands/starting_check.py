"""check-promote, started by schedule where no push to a GitOps repository starts it."""

from __future__ import annotations

from collections.abc import Sequence

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.proposing import Proposition
from kalypso_actions.commands.publishing import Published
from kalypso_actions.commands.starting import start_workflow
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.promotion import meaning_of_push
from kalypso_actions.promotion import statuses as table


def start_after_merge(
    published: Published, sources: Snapshot, inputs: ScheduleInputs, session: ChainSession
) -> str:
    """What the push of the merge would start, if it was a person's: GitHub starts nothing for ours.

    Returns the run's page. Raises GitHubError.
    """
    proposed = published.proposition.proposed
    meaning = meaning_of_push(
        proposed.base_tracking,
        proposed.tracking,
        goes_back=False,
        base_commit=proposed.tracking,
        latest=_status(sources, session),
    )
    return _start(published.proposition, published.merge_commit, meaning.commit, inputs, session)


def start_lost(
    propositions: Sequence[Proposition],
    sources: Snapshot,
    inputs: ScheduleInputs,
    session: ChainSession,
) -> list[str]:
    """Start again what was lost between a merge and check-promote.

    So it is where nothing differs from the promoted commit's tree in any GitOps branch, and yet the
    commit's status knows of no merge. Returns the runs' pages. Raises GitHubError.
    """
    commit = sources.promoted_commit
    done = all(one.decision.action in {"none", "withdraw"} for one in propositions)
    holds = all(one.proposed.base_tracking == commit for one in propositions)
    if commit is None or not (done and holds):
        return []
    if not table.is_before_merge(_status(sources, session)):
        return []
    return [_start(one, one.state.commit, commit, inputs, session) for one in propositions]


def _status(sources: Snapshot, session: ChainSession) -> CommitStatus | None:
    """The promoted commit's latest status for the environment, where it is the control plane's."""
    commit = sources.promoted_commit
    mains = [base.source.repo for base, _ in sources.bases if base.name == MAIN_BASE_REPO]
    own = repository_key(session.url(session.control_plane))
    if commit is None or [repository_key(url) for url in mains] != [own]:
        return None
    found = statuses.latest(session.github, session.control_plane, commit)
    return found.get(table.context(sources.environment).lower())


def _start(
    proposition: Proposition,
    commit: str,
    promoted: str,
    inputs: ScheduleInputs,
    session: ChainSession,
) -> str:
    return start_workflow(
        session,
        inputs.check_promote_workflow,
        {
            "environment": inputs.environment,
            "promoted_commit_id": promoted,
            "commit_id": commit,
            "gitops_repository": proposition.state.repository,
        },
    )
