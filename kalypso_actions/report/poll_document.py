"""The output of `kalypso poll`: its document, and its step summary, the runs with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import Document
from kalypso_actions.report.markdown import code, findings, link, table, text


class StartEntry(Document):
    """A workflow that poll has started, with its inputs and the reason.

    `commit` is the promoted commit ("" for schedule); `attempt` counts the starts from 1; `url` is
    the page of the run.
    """

    workflow: str
    environment: str
    commit: str = ""
    attempt: int = 1
    reason: str
    url: str


class PollDocument(ChainDocument):
    """The output of `kalypso poll --output json`.

    `environments` are those where schedule was started, `started` all starts.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.poll/v1", alias="schema")
    environments: tuple[str, ...] = ()
    started: tuple[StartEntry, ...] = ()


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
