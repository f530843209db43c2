"""The output of `kalypso notify`: its document, and its step summary.

The summary has the meaning of a push, and the started runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.markdown import code, commit_link, findings, link, table, text

MEANINGS: Final[Mapping[str, str]] = {
    "promotion": "a promotion",
    "continuation": "a correction: the promotion goes on",
    "configuration": "a configuration change",
    "revert": "a revert: nothing is promoted",
}


class NotifyDocument(ChainDocument):
    """The output of `kalypso notify --output json`."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "promoted": "true if the push is a promotion.",
        "promoted-commit": "The promoted commit of main.",
        "run-url": "The page of the started run, if GitHub names it.",
    }

    schema_name: str = Field("kalypso.notify/v1", alias="schema")
    environments: tuple[str, ...] = ()
    promoted: bool = False
    promoted_commit: str = ""
    run_url: str = ""


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
    return (
        code(check.environment),
        MEANINGS[check.kind],
        commit_link(check.commit, control_plane_url) if check.commit else "",
        link("check-promote", check.url),
    )
