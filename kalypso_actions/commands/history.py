"""`kalypso history`: what an environment, a target or a cluster has had, with the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import overviews
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import BaseHistory, last_good, read_head
from kalypso_actions.commands.shared.reading.base_history import BaseWrite
from kalypso_actions.commands.shared.record import ask, ask_record, record_branch
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.chain import HistoryInputs
from kalypso_actions.model.github import CommitView
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.urls import owner_of
from kalypso_actions.observations.histories import (
    ClusterPeriod,
    TargetPeriod,
    cluster_periods,
    clusters_of_commits,
    target_periods,
)
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.questions import moment, similar_name
from kalypso_actions.promotion.environments import missing_branch
from kalypso_actions.promotion.statuses import State, posted_for
from kalypso_actions.promotion.statuses import context as status_context
from kalypso_actions.report.history_document import (
    ClusterPeriodEntry,
    HistoryDocument,
    PeriodEntry,
    TargetPeriodEntry,
)

MOST: Final = 200
"""The most periods without `--since`: ten days of a busy main, in two requests."""


def history(inputs: HistoryInputs, context: CommandContext) -> HistoryDocument:
    """Return what an environment, a target or a cluster has had, newest first.

    The commits of main of an environment come from its branch, with numbers of clusters if there is
    a record. Raises KalypsoError if the branch cannot be read, UsageError for an unknown name.
    """
    now = context.runtime.now()
    at = moment(inputs.at, now) if inputs.at else now
    since = moment(inputs.since, now) if inputs.since else None
    if not owner_of(context.control_plane):
        return _of_record(inputs, context, at, since)
    environments = context.environments()
    if inputs.name in environments and not inputs.target:
        return _of_environment(inputs, context, environments, at, since)
    if not record_branch(context, inputs.record).head():
        context.environment(inputs.name, environments)
    return _of_record(inputs, context, at, since)


def _of_record(
    inputs: HistoryInputs, context: CommandContext, at: datetime, since: datetime | None
) -> HistoryDocument:
    """Return the periods of a target, or of a cluster, in the record."""
    name = inputs.name
    wanted = inputs.target or name

    def question(
        tables: Database,
    ) -> tuple[list[TargetPeriod], list[ClusterPeriod], str, list[str]]:
        known = [row[0] for row in tables.rows("select name from environment order by position")]
        if name in known:
            periods = target_periods(tables, inputs.target, at, since, name)
        else:
            periods = target_periods(tables, name, at, since)
        clusters: list[ClusterPeriod] = []
        if not periods:
            clusters = list(cluster_periods(tables, name, at, since, inputs.target))
        is_known = periods or clusters
        return periods, clusters, "" if is_known else similar_name(tables, wanted, at), known

    record, (targets, clusters, similar, known) = ask_record(context, inputs.record, question)
    if not (targets or clusters):
        is_other = similar and similar != wanted.lower()
        of_target = f" with the target {inputs.target!r}" if inputs.target else ""
        raise UsageError(
            f"the record has no environment, target or cluster {name!r}{of_target} in that time",
            Location(record),
            f"did you mean {similar}?" if is_other else _names_advice(known),
        )
    return HistoryDocument(
        control_plane=context.control_plane,
        kind="target" if targets else "cluster",
        name=inputs.target or name,
        target_periods=TargetPeriodEntry.all_of(targets),
        cluster_periods=ClusterPeriodEntry.all_of(clusters),
    )


def _names_advice(environments: Sequence[str]) -> str:
    """Return how to find the names of a record that has these environments."""
    if not environments:
        return "the record has nothing by then: name a later time"
    return f"kalypso where {environments[0]} lists the targets and clusters of {environments[0]}"


def _of_environment(
    inputs: HistoryInputs,
    context: CommandContext,
    environments: Mapping[str, Environment],
    at: datetime,
    since: datetime | None,
) -> HistoryDocument:
    """Return the commits of main that an environment has had, newest first."""
    environment = context.environment(inputs.name, environments)
    branch = read_head(environment, context)
    if not branch.head:
        raise KalypsoError.of([missing_branch(environment)])
    past = BaseHistory(branch, environments, context)
    writes = [write for write in past.writes() if not inputs.at or write.at <= at]
    shown = _shown(writes, since)
    views = overviews.commit_views(
        context.github,
        context.control_plane,
        [write.promoted_commit or "" for write in writes[:shown]],
    )
    record = record_branch(context, inputs.record)
    clusters: Mapping[str, Mapping[str, int]] = {}
    if head := record.head():
        clusters = ask(
            record,
            head,
            context.runtime.environment,
            lambda tables: clusters_of_commits(tables, inputs.name, at),
        )
    periods = tuple(_periods(inputs.name, writes, views, past.main))[:shown]
    return HistoryDocument(
        control_plane=context.control_plane,
        name=inputs.name,
        branch=branch.name,
        last_good=last_good(branch, past, context) or "",
        periods=tuple(
            each.model_copy(update={"clusters": clusters.get(each.commit)}) for each in periods
        ),
        is_complete=shown == len(writes),
    )


def _shown(writes: Sequence[BaseWrite], since: datetime | None) -> int:
    """Return the number of the newest writes to show; the last one began before `since`."""
    if since is None:
        return min(MOST, len(writes))
    newer = (n for n, write in enumerate(writes, start=1) if write.at <= since)
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
