"""What `kalypso doctor` has found, for people."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import CheckEntry, DoctorDocument
from kalypso_actions.report.escaping import escape_log_line

STYLES: Final = {"ok": "green", "warning": "yellow", "problem": "bold red"}
INDENT: Final = " " * 12


def print_checks(console: Console, document: DoctorDocument) -> None:
    """A line for each check, below the repository that it is about; then what it comes to."""
    for place, checks in groupby(_by_place(document), key=lambda check: check.place):
        console.print(Text(escape_log_line(place), style="bold"), soft_wrap=True)
        for check in checks:
            console.print(_line(check), soft_wrap=True)
        console.print()
    counts = {state: sum(one.state == state for one in document.checks) for state in STYLES}
    warnings, problems = (counted(counts[state], state) for state in ("warning", "problem"))
    console.print(f"{counts['ok']} ok, {warnings}, {problems}")


def _by_place(document: DoctorDocument) -> list[CheckEntry]:
    """The places in the order in which they come first."""
    order = list(dict.fromkeys(check.place for check in document.checks))
    return sorted(document.checks, key=lambda check: order.index(check.place))


def _line(check: CheckEntry) -> Text:
    text = Text(f"  {check.state:<9} ", style=STYLES[check.state])
    lines = [escape_log_line(line) for line in check.text.splitlines() if line.strip()]
    text.append(f"\n{INDENT}".join(lines), style="default")
    if check.advice:
        text.append(f"\n{INDENT}→ {escape_log_line(check.advice)}", style="cyan")
    if check.link:
        text.append(f"\n{INDENT}  {escape_log_line(check.link)}", style="cyan")
    return text
