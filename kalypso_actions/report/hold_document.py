"""The output of `kalypso hold` and `kalypso release`: its document, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.promotion_policy import Hold
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import DRY_RUN, SUMMARIES, WriteEntry
from kalypso_actions.report.documents import Entries, OutputDocument, ProblemEntry
from kalypso_actions.report.terminal import print_findings, print_line


class HoldEntry(OutputDocument):
    """A hold: nothing but the commit `at` ("" for none) enters before `until` (null: no end).

    `since` is when it came to the branch; null: not known, or not read.
    """

    reason: str
    by: str
    until: datetime | None
    at: str
    since: datetime | None = None

    @classmethod
    def of(cls, hold: Hold, since: datetime | None = None) -> HoldEntry:
        """Convert a hold."""
        return cls(reason=hold.reason, by=hold.by, until=hold.until, at=hold.at, since=since)

    @property
    def line(self) -> str:
        """The hold as a line of plain text."""
        until = f" until {self.until:%Y-%m-%d %H:%M} UTC" if self.until else ""
        at = f", except {self.at[:7]}" if self.at else ""
        return f"held by {self.by}{until}{at}: {self.reason}"


class HoldDocument(OutputDocument):
    """The output of `kalypso hold` and `kalypso release` with `--output json`.

    `holds` are those of the environment afterwards (of the pull request's branch with
    `--mode pull-request`), `released` those that the run took away. A release that takes none of
    them away has a problem.
    """

    schema_name: str = Field("kalypso.hold/v1", alias="schema")
    control_plane: str = ""
    environment: str = ""
    changed: bool = False
    holds: Entries[HoldEntry] = ()
    released: Entries[HoldEntry] = ()
    environment_commit: str = ""
    pull_request_url: str = ""
    writes: Entries[WriteEntry] = ()
    warnings: Entries[ProblemEntry] = ()
    problems: Entries[ProblemEntry] = ()


NOW_HELD = (
    "Nothing is proposed or merged automatically now. Open pull requests get the failing status "
    "kalypso / policy;\npeople can still merge them. kalypso status shows what waits."
)


def print_hold(console: Console, document: HoldDocument, *, releases: bool = False) -> None:
    """Print what was released, the holds, and the pull request, with the findings.

    `releases`: the command is `release`.
    """
    name = document.environment
    for entry in document.released:
        print_line(console, f"{name} is no longer {entry.line}")
    for entry in document.holds:
        print_line(console, f"{name} is {entry.line}")
    if not document.holds:
        print_line(console, f"nobody holds {name}")
    elif not (releases or document.changed or document.writes):
        print_line(console, f"{name} is held already; nothing was written")
    elif not releases and document.environment_commit and not document.pull_request_url:
        console.print(NOW_HELD, highlight=False)
    for write in document.writes:
        print_line(console, f"Would {write.line}")
    if document.pull_request_url:
        print_line(console, f"when it is merged: {document.pull_request_url}")
    if document.writes:
        print_line(console, f"{DRY_RUN}.")
    print_findings(console, document.findings)


def hold_body(environment: str, holds: Sequence[Hold], released: Sequence[Hold]) -> str:
    """Return the body of the pull request that changes the holds of an environment."""
    now, gone = HoldEntry.all_of(holds), HoldEntry.all_of(released)
    mark = markdown.marker("hold", environment)
    return markdown.render(SUMMARIES, "hold_pull_request", **locals())
