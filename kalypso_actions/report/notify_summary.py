"""The page of a notify run: what a push meant, and what was started for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.report.chain_documents import NotifyDocument
from kalypso_actions.report.markdown import code, findings, link, table, text

MEANINGS: Final[Mapping[str, str]] = {
    "promotion": "a promotion",
    "continuation": "a correction: the promotion goes on",
    "configuration": "a configuration change",
    "revert": "a revert: nothing is promoted",
}


@dataclass(frozen=True, slots=True)
class StartedCheck:
    """What the control plane was told of an environment, and the page of the run that it started.

    `commit` is the promoted commit of main; "" for none.
    """

    environment: str
    kind: str
    commit: str
    page: str


def notify_summary(
    document: NotifyDocument, told: Sequence[StartedCheck], control_plane_url: str, what: str
) -> str:
    """The step's summary; `what` says why nothing was to be told."""
    names = ", ".join(code(one.environment) for one in told)
    heading = f"started check-promote for {names}" if told else "nothing to tell"
    if document.problems:
        heading = "some environments cannot be read"
    parts = [f"## kalypso notify: {heading}"]
    if told:
        rows = [_row(one, control_plane_url) for one in told]
        parts.append(table(("Environment", "The push was", "Commit of main", "Run"), rows))
    elif document.problems:
        parts.append(
            "Correct what is wrong there, then run this job again: until then, nobody knows "
            "whether the push belongs to them."
        )
    else:
        parts.append(text(what or "the push touches nothing that a cluster runs") + ".")
    parts.append(findings(document.warnings, document.problems))
    return "\n\n".join(part for part in parts if part)


def _row(one: StartedCheck, control_plane_url: str) -> tuple[str, ...]:
    url = f"{control_plane_url}/commit/{one.commit}"
    return (
        code(one.environment),
        MEANINGS[one.kind],
        link(one.commit[:7], url) if one.commit else "",
        link("check-promote", one.page),
    )
