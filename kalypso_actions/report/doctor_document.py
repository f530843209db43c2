"""The output of `kalypso doctor`: its document, and its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final, Literal

from pydantic import Field
from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.chain_document import WriteEntry
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import append_advice, append_lines, print_line

STYLES: Final = {"ok": "green", "warning": "yellow", "problem": "bold red"}
INDENT: Final = 12


class CheckEntry(OutputDocument):
    """A check; `advice` says what to do ("" for state ok), and `link` is the page for it."""

    place: str
    state: Literal["ok", "warning", "problem"]
    text: str
    advice: str = ""
    link: str = ""


class DoctorDocument(OutputDocument):
    """The output of `kalypso doctor --output json`; `problems` ended the run early.

    `probe` has the results of `--probe`, and `writes` what the probe would write (`--dry-run`).
    """

    schema_name: str = Field("kalypso.doctor/v1", alias="schema")
    control_plane: str = ""
    checks: tuple[CheckEntry, ...] = ()
    probe: tuple[CheckEntry, ...] = ()
    writes: tuple[WriteEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether there are problems."""
        checks = (*self.checks, *self.probe)
        return bool(self.problems) or any(check.state == "problem" for check in checks)


def print_checks(console: Console, checks: Sequence[CheckEntry]) -> None:
    """Print the checks of each repository, and the number of each state."""
    places = list(dict.fromkeys(check.place for check in checks))
    by_place = sorted(checks, key=lambda check: places.index(check.place))
    for place, group in groupby(by_place, key=lambda check: check.place):
        print_line(console, place, "bold")
        for check in group:
            console.print(_text(check), soft_wrap=True)
        console.print()
    counts = Counter(check.state for check in checks)
    warnings = counted(counts["warning"], "warning")
    console.print(f"{counts['ok']} ok, {warnings}, {counted(counts['problem'], 'problem')}")


def _text(check: CheckEntry) -> Text:
    text = Text(f"  {check.state:<9} ", style=STYLES[check.state])
    append_lines(text, check.text, indent=INDENT)
    append_advice(text, check.advice, indent=INDENT)
    if check.link:
        text.append(f"\n{' ' * INDENT}  {escape_log_line(check.link)}", style="cyan")
    return text
