"""`kalypso delivery`: how well changes reach clusters, and how far a commit has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.record import ask_record
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.inputs.chain import DeliveryFigureInputs
from kalypso_actions.observations import questions
from kalypso_actions.observations.delivery import (
    Figures,
    Promoted,
    figures,
    promoted,
    recorded_since,
    window_before,
)
from kalypso_actions.observations.projection import Database
from kalypso_actions.report.delivery_document import (
    DeliveredCommitEntry,
    DeliveryDocument,
    DeliveryEntry,
)


def delivery(inputs: DeliveryFigureInputs, context: CommandContext) -> DeliveryDocument:
    """Return the figures of delivery, or the way of a commit.

    Raises UsageError for a commit that the record does not have, KalypsoError without a record.
    """
    now = context.runtime.now()
    at = questions.moment(inputs.at, now) if inputs.at else now
    since = questions.moment(inputs.since, now) if inputs.since else None

    def question(
        tables: Database,
    ) -> tuple[datetime | None, list[Figures], Mapping[str, Sequence[Promoted]]]:
        if inputs.commit:
            return recorded_since(tables), [], promoted(tables)
        return recorded_since(tables), figures(tables, at, since), {}

    record, (begin, found, commits) = ask_record(context, inputs.record, question)
    entries = DeliveredCommitEntry.all_of(
        each
        for lines in commits.values()
        for each in lines
        if each.commit.startswith(inputs.commit.lower())
    )
    if inputs.commit and not entries:
        raise UsageError(
            f"the record has no commit {inputs.commit!r} of main",
            Location(record),
            "name one of the newest commits of main; observe and poll record them with a token",
        )
    return DeliveryDocument(
        record=record,
        recorded_since=begin,
        since=max(filter(None, (since or window_before(at), begin))),
        at=at,
        entries=tuple(map(delivery_entry, found)),
        commits=entries,
    )


def delivery_entry(found: Figures) -> DeliveryEntry:
    """Return the figures of one environment, application or cluster type as they are printed."""
    scope = asdict(found.scope)
    names = DeliveryEntry.model_fields.keys() - scope.keys()
    return DeliveryEntry.model_validate(scope | {name: getattr(found, name) for name in names})
