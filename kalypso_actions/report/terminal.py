"""Print notes, warnings and problems to a terminal or a job's log."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.escaping import escape_log_line


def print_findings(
    console: Console, warnings: Iterable[ProblemEntry], problems: Iterable[ProblemEntry]
) -> None:
    """Print each as a paragraph: location, message, advice."""
    for heading, style, entries in (
        ("warning", "yellow", warnings),
        ("problem", "bold red", problems),
    ):
        for entry in entries:
            console.print(_finding(heading, style, entry), soft_wrap=True)


def print_notes(console: Console, notes: Iterable[ProblemEntry]) -> None:
    """Print each note like `print_findings`."""
    for entry in notes:
        console.print(_finding("note", "cyan", entry), soft_wrap=True)


def append_message(text: Text, message: str, advice: str, *, indent: int) -> None:
    """Append the lines of a message, and the advice on a line of its own."""
    margin = " " * indent
    lines = [escape_log_line(line) for line in message.splitlines() if line.strip()]
    text.append(f"\n{margin}".join(lines), style="default")
    if advice:
        text.append(f"\n{margin}→ {escape_log_line(advice)}", style="cyan")


def _finding(heading: str, style: str, entry: ProblemEntry) -> Text:
    text = Text()
    text.append(heading, style=style)
    place = ""
    if entry.where:
        place = entry.where.path or entry.where.repository
        if entry.where.line:
            place += f":{entry.where.line}"
        if entry.where.path:
            place += f" ({entry.where.repository})"
    text.append(f" {escape_log_line(place)}: " if place else ": ")
    code = f" [{entry.code}]" if entry.code else ""
    append_message(text, entry.message.rstrip() + code, entry.advice, indent=4)
    return text
