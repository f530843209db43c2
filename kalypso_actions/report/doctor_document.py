"""The JSON output of doctor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry


class CheckEntry(Document):
    """A check; `advice` says what to do ("" for state ok), and `link` is the page for it."""

    place: str
    state: Literal["ok", "warning", "problem"]
    text: str
    advice: str = ""
    link: str = ""


class DoctorDocument(Document):
    """The output of `kalypso doctor --output json`; `problems` ended the run early.

    `probe` has the results of `--probe`.
    """

    schema_name: str = Field("kalypso.doctor/v1", alias="schema")
    control_plane: str = ""
    checks: tuple[CheckEntry, ...] = ()
    probe: tuple[CheckEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether there are problems."""
        checks = (*self.checks, *self.probe)
        return bool(self.problems) or any(check.state == "problem" for check in checks)
