"""The step summary of `kalypso poll`: the started runs, with reasons."""

from __future__ import annotations

from kalypso_actions.report.markdown import code, findings, link, table, text
from kalypso_actions.report.poll_document import PollDocument, StartEntry


def poll_summary(document: PollDocument) -> str:
    """Return the step summary."""
    started = ", ".join(map(code, document.environments))
    heading = "nothing to start"
    if started:
        heading = f"started schedule for {started}"
    elif document.started:
        heading = "repeated lost starts"
    if document.problems:
        heading += "; there are problems"
    parts = [f"## kalypso poll: {heading}"]
    if document.started:
        parts.append(table(("Environment", "Why", "Run"), map(_row, document.started)))
    parts.append(findings(document.findings))
    return "\n\n".join(part for part in parts if part)


def _row(start: StartEntry) -> tuple[str, ...]:
    reason = text(start.reason) + (f", attempt {start.attempt}" if start.attempt > 1 else "")
    commit = f" with {code(start.commit[:7])}" if start.commit else ""
    return code(start.environment) + commit, reason, link(start.workflow, start.url)
