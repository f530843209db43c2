"""The page of a poll run: what has moved, and what was started for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions.report.chain_documents import PollDocument
from kalypso_actions.report.markdown import code, findings, link, some, table, text

MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Polled:
    """What was found of an environment, and the page of the run that was started ("" for none).

    `moved` are names of registrations; `unrecorded` says why nobody knows what the tree was made
    of, where that is so.
    """

    environment: str
    moved: tuple[str, ...]
    unrecorded: str
    page: str


def poll_page(document: PollDocument, polled: Sequence[Polled]) -> str:
    """The step's summary."""
    started = ", ".join(map(code, document.environments))
    heading = f"started schedule for {started}" if started else "nothing has moved"
    if document.problems:
        heading += "; not everything could be looked at or started"
    rows = [_row(one) for one in polled if one.moved or one.unrecorded]
    parts = [f"## kalypso poll: {heading}"]
    if rows:
        parts.append(table(("Environment", "What has moved", "Run"), rows))
    parts.append(findings(document.warnings, document.problems))
    return "\n\n".join(part for part in parts if part)


def _row(one: Polled) -> tuple[str, ...]:
    moved = ", ".join(some([code(name) for name in one.moved], MOST_NAMES))
    told = [moved] if moved else []
    if one.unrecorded:
        told.append(text(one.unrecorded))
    return code(one.environment), "; ".join(told), link("schedule", one.page) if one.page else ""
