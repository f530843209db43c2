"""`kalypso drift`: what is not as wanted, the worst first."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.record import ask_record
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import DriftInputs
from kalypso_actions.model.nearest import nearest
from kalypso_actions.observations import questions
from kalypso_actions.observations.drift import KINDS, UNRECORDED, Drift
from kalypso_actions.observations.drift import drift as drift_at
from kalypso_actions.observations.projection import Database
from kalypso_actions.report.drift_document import DriftDocument, DriftEntry

ANY: Final = "any"


def drift(inputs: DriftInputs, context: CommandContext) -> DriftDocument:
    """Return what is not as wanted, now or at a time.

    Raises UsageError for an unknown kind, and KalypsoError without a record.
    """
    for kind in inputs.fail_on:
        if kind not in {ANY, *KINDS}:
            similar = nearest(kind, [ANY, *KINDS])
            advice = f"did you mean {similar}?" if similar else f"write {ANY} or {', '.join(KINDS)}"
            raise UsageError(f"fail-on: there is no kind {kind!r}", advice=advice)
    now = context.runtime.now()
    at = questions.moment(inputs.at, now) if inputs.at else now

    def question(tables: Database) -> tuple[list[Drift], datetime | None, int]:
        found = drift_at(tables, at, inputs.stale_after)
        return found, questions.last_look(tables, at), questions.clusters(tables, at)

    record, (found, observed_at, clusters) = ask_record(context, inputs.record, question)
    return DriftDocument(
        record=record,
        at=at,
        observed_at=observed_at,
        entries=DriftEntry.all_of(found),
        clusters=clusters,
        left_out=UNRECORDED,
        # Nothing is known before the first look, so a gate stays closed.
        is_failing=(bool(inputs.fail_on) and observed_at is None)
        or any(ANY in inputs.fail_on or each.kind in inputs.fail_on for each in found),
    )
