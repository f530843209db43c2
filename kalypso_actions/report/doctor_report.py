"""The report of `kalypso doctor`, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.doctor_document import CheckEntry, DoctorDocument
from kalypso_actions.report.terminal import append_message
from kalypso_actions.report.terminal_escaping import escape_log_line

STYLES: Final = {"ok": "green", "warning": "yellow", "problem": "bold red"}
INDENT: Final = 12


def print_checks(console: Console, document: DoctorDocument) -> None:
    """Print the checks of each repository, and the number of each state."""
    _print(console, document.checks)


def print_probe(console: Console, document: DoctorDocument) -> None:
    """Print the results of the probe in the same way."""
    _print(console, document.probe)


def _print(console: Console, entries: Sequence[CheckEntry]) -> None:
    for place, checks in groupby(_by_place(entries), key=lambda check: check.place):
        console.print(Text(escape_log_line(place), style="bold"), soft_wrap=True)
        for check in checks:
            console.print(_line(check), soft_wrap=True)
        console.print()
    counts = Counter(check.state for check in entries)
    warnings, problems = (
        counted(counts["warning"], "warning"),
        counted(counts["problem"], "problem"),
    )
    console.print(f"{counts['ok']} ok, {warnings}, {problems}")


def _by_place(entries: Sequence[CheckEntry]) -> list[CheckEntry]:
    """Group the checks by place, in the order of first appearance."""
    order = list(dict.fromkeys(check.place for check in entries))
    return sorted(entries, key=lambda check: order.index(check.place))


def _line(check: CheckEntry) -> Text:
    text = Text(f"  {check.state:<9} ", style=STYLES[check.state])
    append_message(text, check.text, check.advice, indent=INDENT)
    if check.link:
        text.append(f"\n{' ' * INDENT}  {escape_log_line(check.link)}", style="cyan")
    return text
