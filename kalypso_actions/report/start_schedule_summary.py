"""The page of a start-schedule run: which branch was pushed, and what was started for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kalypso_actions.report import markdown
from kalypso_actions.report.chain_documents import StartScheduleDocument


def start_schedule_summary(
    document: StartScheduleDocument, started: Mapping[str, str], *, is_own: bool
) -> str:
    """The step's summary.

    `started` are the pages of what was started, by environment; `is_own`: the branch is Kalypso's.
    """
    headline = start_schedule_headline(document, is_own=is_own, name=markdown.code)
    pages = ", ".join(markdown.link(name, url) for name, url in started.items())
    parts = [
        f"## kalypso start-schedule: {headline}",
        f"{markdown.code(document.branch)} was pushed: {pages}." if pages else "",
        markdown.findings(document.warnings, document.problems),
    ]
    return "\n\n".join(part for part in parts if part)


def start_schedule_headline(
    document: StartScheduleDocument, *, is_own: bool, name: Callable[[str], str] = str
) -> str:
    """What happened, in a line; `name` is how names are written in it."""
    branch = name(document.branch)
    if is_own:
        return f"nothing to start, {branch} is one of Kalypso's own branches"
    if document.environments:
        environments = ", ".join(map(name, document.environments))
        more = "; not everything could be started" if document.problems else ""
        return f"started schedule for {environments}{more}"
    if document.problems:
        return f"schedule could not be started after a push to {branch}"
    return f"nothing to start, no environment lies on the branch {branch}"
