"""The output of `kalypso rollback`: its document, and its step summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import SUMMARIES, ChainDocument
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import Entries, OutputDocument
from kalypso_actions.report.hold_document import HoldEntry

HEADLINES: Mapping[str, str] = {
    "write": "{environment} goes back from {left} to {commit}",
    "unchanged": "{environment} has gone back to {commit} already",
    "present": "{environment} has {commit} already, and no rollback holds it there",
    "nothing": "{environment} does not have the commit",
    "refused": "{environment} does not go back",
}
"""Headlines by the entry's action."""


class RolledBackEntry(OutputDocument):
    """An environment: the commit that it leaves, or has left before, and the one that it gets.

    `environment_commit` is the new head of its branch, "" if the run did not write. `hold` is the
    hold that a rollback writes. `changes` is
    what would be rendered differently, at a terminal with `dry_run`.
    """

    environment: str
    action: Literal["write", "unchanged", "present", "nothing", "refused"]
    commit: str
    left: str
    environment_commit: str
    hold: HoldEntry | None = None
    changes: ComparisonEntry | None = None

    @property
    def headline(self) -> str:
        """The result as words of plain text."""
        words = {"environment": self.environment, "left": self.left[:7], "commit": self.commit[:7]}
        return HEADLINES[self.action].format(**words)


class RollbackDocument(ChainDocument):
    """The output of `kalypso rollback --output json`.

    `environments` are in the order in which they go back, the last one of the chain first. At a
    terminal, `run_url` is the page of the run that went back.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if an environment has gone back.",
        "commit": "The commit of main that the named environment has now.",
    }

    schema_name: str = Field("kalypso.rollback/v1", alias="schema")
    environment: str = ""
    chain: bool = False
    verify_only: bool = False
    environments: Entries[RolledBackEntry] = ()
    run_url: str = ""

    @property
    def changed(self) -> bool:
        """Whether the run has written to a branch."""
        return any(entry.environment_commit for entry in self.environments)

    @property
    def commit(self) -> str:
        """The commit that the named environment goes back to; "" for none."""
        own = (entry for entry in self.environments if entry.environment == self.environment)
        return next((entry.commit for entry in own if entry.action != "refused"), "")

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs."""
        return {"changed": str(self.changed).lower(), "commit": self.commit}

    @property
    def headline(self) -> str:
        """The result as a line of plain text."""
        ends = [entry for entry in self.environments if entry.action != "nothing"]
        refused = [entry for entry in ends if entry.action == "refused"]
        if refused and len(ends) > len(refused):
            words = ", ".join(entry.headline for entry in refused[::-1])
            return f"{words}, so no environment goes back"
        return ", ".join(entry.headline for entry in ends[::-1]) or "nothing goes back"

    @property
    def next_step(self) -> str:
        """What people do after environments went back; "" if none did."""
        names = [entry.environment for entry in self.environments[::-1] if entry.hold]
        if self.problems or not names:
            return ""
        releases = " and ".join(f"kalypso release {name}" for name in names)
        return (
            "Merge the pull requests of schedule, which kalypso status shows; no other commit "
            f"enters until {releases}."
        )


def rollback_summary(
    document: RollbackDocument, repository_url: str, started: Mapping[str, str]
) -> str:
    """Return the step summary; `started` are the pages of schedule's runs by environment."""
    return markdown.render(SUMMARIES, "rollback", **locals())
