"""Print findings, lines and tables to a terminal or a job's log."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from kalypso_actions.errors import HERE, Finding, Location
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.escaping import escape_line, escape_log_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

MAX_ALIKE: Final = 3
"""The most findings of one kind at one place to show, such as those of all assignments of a
Template.
"""

EXCERPT_WIDTH: Final = 120
"""The most characters of a line; the excerpt of a longer line is a part around the place."""

BETWEEN_COLUMNS: Final = 2

HEADINGS: Final = {
    "error": ("problem", "bold red"),
    "warning": ("warning", "yellow"),
    "note": ("note", "cyan"),
}
"""The word for a level, and its style."""

HIDDEN_CODES: Final = frozenset({"config-secret", "repository-url-secret", "workflow-secret"})
"""The codes of findings whose lines must not be shown."""

NO_COMMITS: Final[Mapping[str, str]] = {}

_LINE_END = re.compile(r"\r\n|\r|\n")


class Files(Protocol):
    """The files of locations, if they are on this machine."""

    def path(self, where: Location) -> str:
        """Return the path of a file from the current folder; "" if it is not there."""

    def text(self, where: Location) -> str:
        """Return the content of a file; "" if it is not on this machine."""


class _NoFiles:
    def path(self, where: Location) -> str:  # noqa: ARG002 - part of Files
        return ""

    text = path


NO_FILES: Final[Files] = _NoFiles()


def print_findings(
    console: Console,
    findings: Iterable[Finding],
    files: Files = NO_FILES,
    *,
    with_lines: bool = True,
    commits: Mapping[str, str] = NO_COMMITS,
) -> None:
    """Print each finding as a paragraph: location, message, line, advice.

    Notes come first, then acknowledged warnings, with the reason instead of advice. The findings of
    a file follow each other, and the files with problems come last, where a terminal shows them.
    With `with_lines`, show the line of a file on this machine. `commits` maps commits that are not
    heads to their names.
    """
    findings = tuple(findings)
    secret = {_place_of(finding) for finding in findings if finding.code in HIDDEN_CODES}
    kinds: dict[str, list[Finding]] = {"note": [], "acknowledged": [], "warning": [], "error": []}
    for finding in findings:
        kinds["acknowledged" if finding.reason else finding.level].append(finding)
    for block in (kinds["note"], kinds["acknowledged"], kinds["warning"] + kinds["error"]):
        shown = frozenset(map(_place_of, block)) - secret if with_lines else frozenset()
        _print_block(console, block, files, shown, commits=commits)


def _place_of(finding: Finding) -> Location | None:
    """Return the line of a finding, at any column."""
    return replace(finding.where, column=0) if finding.where else None


def _print_block(
    console: Console,
    block: Iterable[Finding],
    files: Files,
    shown: Set[Location | None],
    *,
    commits: Mapping[str, str],
) -> None:
    """Print findings; `shown` are the places whose lines may be shown."""
    by_file: dict[tuple[str, ...], list[Finding]] = {}
    for finding in block:
        where = finding.where
        file = (where.repository, where.branch, where.commit, where.path) if where else ()
        by_file.setdefault(file, []).append(finding)
    groups = sorted(by_file.values(), key=lambda group: any(f.level == "error" for f in group))
    for index, group in enumerate(groups):
        if index:
            console.print()
        ordered = sorted(group, key=lambda finding: (_line_of(finding), finding.code))
        for _, alike in groupby(ordered, key=lambda f: (_line_of(f), f.code, _advice(f))):
            found = list(alike)
            others = _others_of_one_cause(found)
            most = 1 if others else MAX_ALIKE if _line_of(found[0])[0] else len(found)
            for finding in found[:most]:
                is_shown = _place_of(finding) in shown
                text = _text(finding, files, commits, with_lines=is_shown)
                if others:
                    text.append(f"\n    also {escape_log_line(abbreviated(others, MAX_ALIKE))}")
                console.print(text, soft_wrap=True)
            if len(found) > most and not others:
                more = f"… and {len(found) - most} more like it; --output json lists all"
                console.print(more, style="dim")


def _line_of(finding: Finding) -> tuple[int, int]:
    return (finding.where.line, finding.where.column) if finding.where else (0, 0)


def _advice(finding: Finding) -> str:
    return finding.reason or finding.advice


def _others_of_one_cause(findings: Sequence[Finding]) -> list[str]:
    """Return the subjects of all messages but the first, if the messages differ only in subjects.

    The subject of `time-server on depot: …` is the assignment.
    """
    parts = [finding.message.partition(": ") for finding in findings]
    has_subject = bool(_line_of(findings[0])[0] and parts[0][2])
    is_one_cause = has_subject and len({part[2] for part in parts}) == 1
    return [part[0] for part in parts[1:]] if is_one_cause else []


def _text(finding: Finding, files: Files, commits: Mapping[str, str], *, with_lines: bool) -> Text:
    where = finding.where
    heading, style = ("acknowledged", "cyan") if finding.reason else HEADINGS[finding.level]
    text = Text().append(heading, style=style)
    place = shown_place(where, files, commits) if where else ""
    text.append(f" {escape_log_line(place)}: " if place else ": ")
    code = f" [{finding.code}]" if finding.code else ""
    append_lines(text, finding.message.rstrip() + code, indent=4)
    if with_lines and where and where.line:
        content = files.text(where)
        rows = excerpt(content, where.line, where.column, where.line) if content else ""
        for row in rows.splitlines():
            text.append(f"\n    {escape_log_line(row)}", style="dim")
    append_advice(text, _advice(finding), indent=4)
    return text


def append_lines(text: Text, message: str, *, indent: int) -> None:
    """Append the lines of a message."""
    margin = " " * indent
    lines = [escape_log_line(line) for line in message.splitlines() if line.strip()]
    # Upstream's list of refused values indents only its first item.
    aligned = (line[1:] if line.startswith(" - ") else line for line in lines)
    text.append(f"\n{margin}".join(aligned), style="default")


def append_advice(text: Text, advice: str, *, indent: int) -> None:
    """Append the advice on a line of its own."""
    margin = " " * indent
    for index, line in enumerate(advice.splitlines()):
        text.append(f"\n{margin}{'  ' if index else '→ '}{escape_log_line(line)}", style="cyan")


def excerpt(text: str, line: int, column: int, number: int) -> str:
    """Return a line of `text`, numbered `number`, with `^` under `column`.

    Line and column count from 1. Without a column, `^` marks the whole line. Returns "" for a line
    that does not exist.
    """
    lines = _lines(text)
    if not 0 < line <= len(lines):
        return ""
    content = lines[line - 1].replace("\t", " ").rstrip()
    start = min(column - 1, len(content)) if column else len(content) - len(content.lstrip())
    end = start + 1 if column else max(len(content), start + 1)
    cut = max(0, start - EXCERPT_WIDTH // 2) if len(content) > EXCERPT_WIDTH else 0
    before = cell_len(escape_line(content[cut:start]))
    marked = cell_len(escape_line(content[start : min(end, cut + EXCERPT_WIDTH)]))
    gutter = f"{number} | "
    pointer = f"{'| ':>{len(gutter)}}{' ' * before}{'^' * max(1, marked)}"
    return f"{gutter}{escape_line(content[cut : cut + EXCERPT_WIDTH])}\n{pointer}"


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    """Return the lines of a text; the findings of a file, which may be thousands, follow."""
    return _LINE_END.split(text)


def not_compared(problems: Sequence[ProblemEntry], files: Files = NO_FILES) -> str:
    """Return the message that names the first problem that prevents a comparison."""
    where = problems[0].finding().where
    place = f" in {escape_line(shown_place(where, files))}" if where else ""
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"not compared, because of the problem{place}{more}"


def shown_place(
    where: Location, files: Files = NO_FILES, commits: Mapping[str, str] = NO_COMMITS
) -> str:
    """Return the path from the current folder; for a file elsewhere, its path and its origin."""
    path = files.path(where)
    place = path or where.path
    if not place:
        return _origin(where, commits) or "the current folder"
    if where.line:
        place += f":{where.line}"
        if where.column:
            place += f":{where.column}"
    origin = "" if path else _origin(where, commits)
    return f"{place} ({origin})" if origin else place


def _origin(where: Location, commits: Mapping[str, str]) -> str:
    """Return the repository, unless it is that of the current folder, and the branch or commit."""
    if where.commit in commits:
        return commits[where.commit]
    branch = f"branch {where.branch}" if where.branch else ""
    repository = where.repository if where.repository != HERE else ""
    return ", ".join(filter(None, (repository, branch)))


def print_line(console: Console, line: str, style: str = "") -> None:
    """Print a line without folding, and with untrusted text escaped."""
    console.print(Text(escape_log_line(line), style=style), soft_wrap=True)


def styled(console: Console, line: str, style: str = "") -> str:
    """Return a line with untrusted text escaped, and with the style that the console can show."""
    text = escape_log_line(line)
    if not text or not style or console.no_color or console.color_system is None:
        return text
    return Style.parse(style).render(text)


def print_trimmed(console: Console, renderable: RenderableType) -> None:
    """Print without the trailing spaces that a table or a wrapped paragraph leaves."""
    segments: list[Segment] = []
    for line in console.render_lines(renderable, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            text, style, control = line[-1]
            line[-1] = Segment(text.rstrip(), style, control)
        segments += [*line, Segment.line()]
    console.print(Segments(segments), end="")


def looked(at: datetime | None) -> str:
    """Return when the look was that an answer is from."""
    return f"last look {at:%Y-%m-%d %H:%M:%S} UTC" if at else "nothing had been observed by then"


def print_table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, folding its cells where the console is too narrow.

    Rich takes as much time for a few thousand cells as a whole run without changes, so this joins
    columns that fit itself.
    """
    columns = zip(headings, *rows, strict=True)
    widths = [max(map(cell_len, column)) + BETWEEN_COLUMNS for column in columns]
    if sum(widths) - BETWEEN_COLUMNS <= console.width:
        console.print(Text(_row(headings, widths), "table.header"), soft_wrap=True)
        console.out("\n".join(_row(row, widths) for row in rows), highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    print_trimmed(console, table)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    padded = (cell + " " * (width - cell_len(cell)) for cell, width in pairs)
    return "".join(padded).rstrip()


QUICK = 1.0
"""In seconds; a shorter step shows no progress."""

INTERVAL = 0.1
"""Seconds between two updates of the console; a step may report a hundred thousand times."""

LINE_INTERVAL = 5.0
"""Seconds between plain lines."""


class ProgressDisplay:
    """Shows the progress of a step on a console, which only a long step opens."""

    def __init__(self, open_console: Callable[[], Console], step: str) -> None:
        self._open_console = open_console
        self._step = step
        self._started = time.monotonic()
        self._last_line = self._started
        self._next = self._started
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar, so that other output can follow."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def update(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        now = time.monotonic()
        if done == 0:
            self._begin(now)
        if now - self._started < QUICK or (0 < done < total and now < self._next):
            return
        self._next = now + INTERVAL
        console = self._open_console()
        if console.is_terminal:
            self._show_bar(console, done, total)
        elif done < total and now - self._last_line >= LINE_INTERVAL:
            self._last_line = now
            console.print(f"{self._step}: {done} of {total}")

    def of(self, step: str) -> Callable[[int, int], None]:
        """Return a function that reports the progress of the step with this name."""

        def update(done: int, total: int) -> None:
            self._step = step
            self.update(done, total)
            if done == total:
                self.stop()

        return update

    def _begin(self, now: float) -> None:
        """Begin a step; the time of an earlier step does not count."""
        self._started = self._last_line = now

    def _show_bar(self, console: Console, done: int, total: int) -> None:
        if self._bar is None:
            # Only a long step on a terminal needs this import.
            from rich.progress import (  # noqa: PLC0415
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._bar.add_task(self._step, total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)
