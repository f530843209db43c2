"""The output of `kalypso start-schedule`: its document, and its step summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument


class StartScheduleDocument(ChainDocument):
    """The output of `kalypso start-schedule --output json`; `environments` are those started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.start-schedule/v1", alias="schema")
    branch: str = ""
    environments: tuple[str, ...] = ()


def start_schedule_summary(
    document: StartScheduleDocument, started: Mapping[str, str], *, is_own: bool
) -> str:
    """Return the step summary.

    `started` are the URLs of schedule's runs, by environment. `is_own` means that the branch is
    Kalypso's.
    """
    headline = start_schedule_headline(document, is_own=is_own, name=markdown.code)
    pages = markdown.links(started)
    parts = [
        f"## kalypso start-schedule: {headline}",
        f"{markdown.code(document.branch)} was pushed: {pages}." if pages else "",
        markdown.findings(document.findings),
    ]
    return "\n\n".join(part for part in parts if part)


def start_schedule_headline(
    document: StartScheduleDocument, *, is_own: bool, name: Callable[[str], str] = str
) -> str:
    """Return the result as a line; `name` formats the names in it."""
    branch = name(document.branch)
    if is_own:
        return f"nothing to start, {branch} is one of Kalypso's own branches"
    if document.environments:
        environments = ", ".join(map(name, document.environments))
        more = "; there are problems" if document.problems else ""
        return f"started schedule for {environments}{more}"
    if document.problems:
        return f"schedule could not be started after a push to {branch}"
    return f"nothing to start, no environment lies on the branch {branch}"
