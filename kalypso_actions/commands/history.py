"""`kalypso history`: the commits of main that an environment has had, with their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.clients.github import overviews
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import BaseHistory, last_good, read_head
from kalypso_actions.commands.shared.reading.base_history import BaseWrite
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import HistoryInputs
from kalypso_actions.model.github import CommitView
from kalypso_actions.model.history import Ancestry
from kalypso_actions.promotion.environments import missing_branch
from kalypso_actions.promotion.statuses import State, posted_for
from kalypso_actions.promotion.statuses import context as status_context
from kalypso_actions.report.history_document import HistoryDocument, PeriodEntry

MOST: Final = 200
"""The most periods without `--since`: ten days of a busy main, in two requests."""


def history(inputs: HistoryInputs, context: CommandContext) -> HistoryDocument:
    """Return the commits of main that an environment has had, newest first.

    Raises KalypsoError if its branch cannot be read, UsageError for an unknown environment.
    """
    environments = context.environments()
    environment = context.environment(inputs.name, environments)
    branch = read_head(environment, context)
    if not branch.head:
        raise KalypsoError.of([missing_branch(environment)])
    past = BaseHistory(branch, environments, context)
    writes = list(past.writes())
    shown = _shown(writes, inputs)
    views = overviews.commit_views(
        context.github,
        context.control_plane,
        [write.promoted_commit or "" for write in writes[:shown]],
    )
    return HistoryDocument(
        control_plane=context.control_plane,
        name=inputs.name,
        branch=branch.name,
        last_good=last_good(branch, past, context) or "",
        periods=tuple(_periods(inputs.name, writes, views, past.main))[:shown],
        is_complete=shown == len(writes),
    )


def _shown(writes: Sequence[BaseWrite], inputs: HistoryInputs) -> int:
    """Return the number of the newest writes to show; the last one began before `--since`."""
    if inputs.since is None:
        return min(MOST, len(writes))
    newer = (n for n, write in enumerate(writes, start=1) if write.at <= inputs.since)
    return next(newer, len(writes))


def _periods(
    name: str, writes: Sequence[BaseWrite], views: Mapping[str, CommitView], main: Ancestry
) -> Iterator[PeriodEntry]:
    newer: BaseWrite | None = None
    for write in writes:
        commit = write.promoted_commit
        if commit:
            view = views.get(commit)
            status = view.statuses.get(status_context(name).lower()) if view else None
            state = posted_for(status.description) if status else None
            to = (newer.promoted_commit or "") if newer else ""
            is_left = to in main and commit in main and not main.contains(to, commit)
            verdict = State.ROLLED_BACK if is_left else state
            yield PeriodEntry(
                commit=commit,
                subject=view.subject if view else "",
                author=view.author if view else "",
                since=write.at,
                until=newer.at if newer else None,
                by=write.author,
                environment_commit=write.environment_commit,
                verdict=verdict.title if verdict else "",
                description=status.description if status else "",
                deployed=state is State.DEPLOYED,
                rolled_back_to=to if is_left else "",
            )
        newer = write
