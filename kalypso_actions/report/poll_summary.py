"""The page of a poll run: what it has started, and why."""

from __future__ import annotations

from kalypso_actions.report.chain_documents import PollDocument, StartEntry
from kalypso_actions.report.markdown import code, findings, link, table, text


def poll_summary(document: PollDocument) -> str:
    """The step's summary."""
    started = ", ".join(map(code, document.environments))
    heading = "nothing is to be done"
    if started:
        heading = f"started schedule for {started}"
    elif document.started:
        heading = "repeated lost starts"
    if document.problems:
        heading += "; something could not be read or started"
    parts = [f"## kalypso poll: {heading}"]
    if document.started:
        parts.append(table(("Environment", "Why", "Run"), map(_row, document.started)))
    parts.append(findings(document.warnings, document.problems))
    return "\n\n".join(part for part in parts if part)


def _row(one: StartEntry) -> tuple[str, ...]:
    why = text(one.reason) + (f", attempt {one.attempt}" if one.attempt > 1 else "")
    commit = f" with {code(one.commit[:7])}" if one.commit else ""
    return code(one.environment) + commit, why, link(one.workflow, one.url)
