"""Print notes, warnings and problems to a terminal or a job's log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol

from rich.console import Console
from rich.text import Text

from kalypso_actions.errors import HERE, Location
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.report.documents import AcknowledgedEntry, PositionEntry, ProblemEntry, Where
from kalypso_actions.report.excerpts import excerpt
from kalypso_actions.report.positions import position_text
from kalypso_actions.report.terminal_escaping import escape_line, escape_log_line

MAX_ALIKE: Final = 3
"""The most findings of one kind at one place to show, such as those of all assignments of a
Template.
"""


class Files(Protocol):
    """The files of locations, if they are on this machine."""

    def path(self, where: Location) -> str:
        """Return the path of a file from the current folder; "" if it is not there."""

    def text(self, where: Location) -> str:
        """Return the content of a file; "" if it is not on this machine."""


class _NoFiles:
    def path(self, where: Location) -> str:  # noqa: ARG002 - part of Files
        return ""

    def text(self, where: Location) -> str:  # noqa: ARG002 - part of Files
        return ""


NO_FILES: Final[Files] = _NoFiles()
NO_COMMITS: Final[Mapping[str, str]] = {}


def print_position(console: Console, entry: PositionEntry) -> None:
    """Print the commit of main that an environment has, its subject, and how far main is ahead."""
    console.print(Text(escape_log_line(position_text(entry))), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class _Finding:
    heading: str
    style: str
    entry: ProblemEntry

    @property
    def file(self) -> tuple[str, ...]:
        where = self.entry.where
        return (where.repository, where.branch, where.commit, where.path) if where else ()

    @property
    def place(self) -> tuple[int, int]:
        where = self.entry.where
        return (where.line, where.column) if where else (0, 0)


def print_findings(
    console: Console,
    warnings: Iterable[ProblemEntry],
    problems: Iterable[ProblemEntry],
    files: Files = NO_FILES,
    *,
    with_lines: bool = True,
    commits: Mapping[str, str] = NO_COMMITS,
) -> None:
    """Print each finding as a paragraph: location, message, line, advice.

    The findings of a file follow each other, and the files with problems come last, where a
    terminal shows them. With `with_lines`, show the line of a file on this machine. `commits` maps
    commits that are not heads to their names.
    """
    _print(
        console,
        [
            *(_Finding("warning", "yellow", entry) for entry in warnings),
            *(_Finding("problem", "bold red", entry) for entry in problems),
        ],
        files,
        with_lines=with_lines,
        commits=commits,
    )


def print_notes(
    console: Console,
    notes: Iterable[ProblemEntry],
    files: Files = NO_FILES,
    *,
    with_lines: bool = True,
) -> None:
    """Print each note like `print_findings`."""
    findings = [_Finding("note", "cyan", entry) for entry in notes]
    _print(console, findings, files, with_lines=with_lines)


def print_acknowledged(
    console: Console, warnings: Iterable[AcknowledgedEntry], files: Files = NO_FILES
) -> None:
    """Print each acknowledged warning like `print_findings`, with the reason instead of advice."""
    entries = (entry.model_copy(update={"advice": entry.reason}) for entry in warnings)
    _print(console, [_Finding("acknowledged", "cyan", entry) for entry in entries], files)


def not_compared(problems: Sequence[ProblemEntry], files: Files = NO_FILES) -> str:
    """Return the message that names the first problem that prevents a comparison."""
    where = problems[0].where
    place = f" in {escape_line(shown_place(where, files))}" if where else ""
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"not compared, because of the problem{place}{more}"


def append_message(text: Text, message: str, advice: str, *, indent: int) -> None:
    """Append the lines of a message, and the advice on a line of its own."""
    append_lines(text, message, indent=indent)
    _append_advice(text, advice, indent=indent)


def append_lines(text: Text, message: str, *, indent: int) -> None:
    """Append the lines of a message."""
    margin = " " * indent
    lines = [escape_log_line(line) for line in message.splitlines() if line.strip()]
    # Upstream's list of refused values indents only its first item.
    aligned = (line[1:] if line.startswith(" - ") else line for line in lines)
    text.append(f"\n{margin}".join(aligned), style="default")


def _append_advice(text: Text, advice: str, *, indent: int) -> None:
    margin = " " * indent
    for index, line in enumerate(advice.splitlines()):
        text.append(f"\n{margin}{'  ' if index else '→ '}{escape_log_line(line)}", style="cyan")


def _print(
    console: Console,
    all_findings: list[_Finding],
    files: Files,
    *,
    with_lines: bool = True,
    commits: Mapping[str, str] = NO_COMMITS,
) -> None:
    by_file: dict[tuple[str, ...], list[_Finding]] = {}
    for finding in all_findings:
        by_file.setdefault(finding.file, []).append(finding)
    groups = sorted(by_file.values(), key=lambda group: any(f.heading == "problem" for f in group))
    for index, group in enumerate(groups):
        if index:
            console.print()
        ordered = sorted(group, key=lambda finding: (finding.place, finding.entry.code))
        for _, alike in groupby(ordered, key=lambda f: (f.place, f.entry.code, f.entry.advice)):
            findings = list(alike)
            others = _others_of_one_cause(findings)
            if others:
                text = _text(findings[0], files, commits, with_lines=with_lines)
                text.append(f"\n    also {escape_log_line(abbreviated(others, MAX_ALIKE))}")
                console.print(text, soft_wrap=True)
                continue
            most = MAX_ALIKE if findings[0].place[0] else len(findings)
            for finding in findings[:most]:
                console.print(_text(finding, files, commits, with_lines=with_lines), soft_wrap=True)
            if len(findings) > most:
                more = f"… and {len(findings) - most} more like it; --output json lists all"
                console.print(more, style="dim")


def _others_of_one_cause(findings: Sequence[_Finding]) -> list[str]:
    """Return the subjects of all messages but the first, if the messages differ only in subjects.

    The subject of `time-server on depot: …` is the assignment.
    """
    parts = [finding.entry.message.partition(": ") for finding in findings]
    is_one_cause = bool(findings[0].place[0] and parts[0][2]) and len({p[2] for p in parts}) == 1
    return [part[0] for part in parts[1:]] if is_one_cause else []


def _text(finding: _Finding, files: Files, commits: Mapping[str, str], *, with_lines: bool) -> Text:
    entry = finding.entry
    text = Text()
    text.append(finding.heading, style=finding.style)
    place = shown_place(entry.where, files, commits) if entry.where else ""
    text.append(f" {escape_log_line(place)}: " if place else ": ")
    code = f" [{entry.code}]" if entry.code else ""
    append_lines(text, entry.message.rstrip() + code, indent=4)
    if with_lines and entry.where and entry.where.line:
        content = files.text(entry.where.location())
        line = entry.where.line
        rows = excerpt(content, line, entry.where.column, line) if content else ""
        for row in rows.splitlines():
            text.append(f"\n    {escape_log_line(row)}", style="dim")
    _append_advice(text, entry.advice, indent=4)
    return text


def shown_place(
    where: Where, files: Files = NO_FILES, commits: Mapping[str, str] = NO_COMMITS
) -> str:
    """Return the path from the current folder; for a file elsewhere, its path and its origin."""
    path = files.path(where.location())
    place = path or where.path
    if not place:
        return _origin(where, commits) or "the current folder"
    if where.line:
        place += f":{where.line}"
        if where.column:
            place += f":{where.column}"
    origin = "" if path else _origin(where, commits)
    return f"{place} ({origin})" if origin else place


def _origin(where: Where, commits: Mapping[str, str]) -> str:
    """Return the repository, unless it is that of the current folder, and the branch or commit."""
    if where.commit in commits:
        return commits[where.commit]
    branch = f"branch {where.branch}" if where.branch else ""
    repository = where.repository if where.repository != HERE else ""
    return ", ".join(filter(None, (repository, branch)))
