"""The step summary of `kalypso notify`: the meaning of a push, and the started runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.report.markdown import code, findings, link, table, text
from kalypso_actions.report.notify_document import NotifyDocument

MEANINGS: Final[Mapping[str, str]] = {
    "promotion": "a promotion",
    "continuation": "a correction: the promotion goes on",
    "configuration": "a configuration change",
    "revert": "a revert: nothing is promoted",
}


@dataclass(frozen=True, slots=True)
class StartedCheck:
    """A started run of check-promote; `kind` is the meaning of the push for its environment.

    `commit` is the promoted commit of main ("": none).
    """

    environment: str
    kind: str
    commit: str
    url: str


def notify_summary(
    document: NotifyDocument, started: Sequence[StartedCheck], control_plane_url: str, reason: str
) -> str:
    """Return the step summary; `reason` says why nothing was started."""
    names = ", ".join(code(check.environment) for check in started)
    heading = f"started check-promote for {names}" if started else "nothing to start"
    if document.problems:
        heading = "some environments cannot be read"
    parts = [f"## kalypso notify: {heading}"]
    if started:
        rows = [_row(check, control_plane_url) for check in started]
        parts.append(table(("Environment", "The push was", "Commit of main", "Run"), rows))
    elif document.problems:
        parts.append(
            "Correct the problems below, then run this job again: until then, it is unknown "
            "whether the push concerns these environments."
        )
    else:
        parts.append(text(reason or "the push changes nothing that a cluster runs") + ".")
    parts.append(findings(document.findings))
    return "\n\n".join(part for part in parts if part)


def _row(check: StartedCheck, control_plane_url: str) -> tuple[str, ...]:
    commit_url = f"{control_plane_url}/commit/{check.commit}"
    return (
        code(check.environment),
        MEANINGS[check.kind],
        link(check.commit[:7], commit_url) if check.commit else "",
        link("check-promote", check.url),
    )
