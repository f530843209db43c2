"""`kalypso where`: which clusters have a workload, a version or a commit, since when."""

from __future__ import annotations

from datetime import datetime

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.record import ask_record
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.inputs.chain import WhereInputs
from kalypso_actions.observations import questions
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.questions import ClusterState
from kalypso_actions.report.where_document import WhereDocument, WhereEntry


def where(inputs: WhereInputs, context: CommandContext) -> WhereDocument:
    """Return who has what a name is about, now or at a time.

    Raises UsageError for a name that the record has never had, and KalypsoError without a record.
    """
    now = context.runtime.now()
    at = questions.moment(inputs.at, now) if inputs.at else now
    since = questions.moment(inputs.since, now) if inputs.since else None

    def question(tables: Database) -> tuple[list[ClusterState], str | None, datetime | None]:
        named = questions.states(tables, at, about=inputs.name)
        found = questions.where(named, inputs.name)
        similar = None
        if not found and not questions.is_known(tables, inputs.name):
            similar = questions.similar_name(tables, inputs.name, at)
        return found, similar, questions.last_look(tables, at)

    record, (found, similar, observed_at) = ask_record(context, inputs.record, question)
    if similar is not None:
        raise UsageError(
            f"no cluster had {inputs.name!r} at that time"
            if inputs.at
            else f"no cluster has {inputs.name!r}",
            Location(record),
            f"did you mean {similar}?"
            if similar
            else "name a workload, a target, a version, a commit, a cluster or a cluster type",
        )
    return WhereDocument(
        record=record,
        name=inputs.name,
        at=at,
        observed_at=observed_at,
        states=WhereEntry.all_of(each for each in found if since is None or each.since >= since),
    )
