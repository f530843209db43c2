"""Diffs on a terminal: the lines, coloured as git colours them, or a summary of each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import styled

STYLES: Final = {"added": "green", "modified": "yellow", "deleted": "red"}
OF_LINES: Final = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}

LONGEST_BAR: Final = 40

MOST_LINES: Final = 200
"""The most lines of a list; the JSON output has all."""


def shown_diffs(
    console: Console, diffs: Sequence[FileDiffEntry], *, stat: bool, lines: bool
) -> Iterator[str]:
    """Yield the summary, the lines of the diffs, or both."""
    if stat:
        yield from stat_lines(console, diffs)
    if stat and lines and diffs:
        yield ""
    if lines:
        yield from diff_lines(console, diffs)


def diff_lines(console: Console, diffs: Iterable[FileDiffEntry]) -> Iterator[str]:
    """Yield the lines of all diffs, coloured if the console has colours."""
    for entry in diffs:
        in_head = True
        for line in entry.diff.removesuffix("\n").split("\n"):
            in_head = in_head and not line.startswith("@@")
            yield styled(console, line, "bold" if in_head else OF_LINES.get(line[:1], ""))


def stat_lines(console: Console, diffs: Sequence[FileDiffEntry]) -> Iterator[str]:
    """Yield a line for each file: the change, its path, and the number of its changed lines."""
    most = max((entry.insertions + entry.deletions for entry in diffs), default=0)
    number = len(str(most))
    paths = [escape_log_line(entry.path) for entry in diffs]
    bar = min(most, max(10, min(LONGEST_BAR, console.width // 3)))
    longest = max(20, console.width - len("modified  ") - len(" | ") - number - 1 - bar)
    width = min(max(map(len, paths), default=0), longest)
    for entry, path in zip(diffs, paths, strict=True):
        inserted, deleted = _bar(entry, most, bar)
        place = path if len(path) <= width else f"…{path[len(path) - width + 1 :]}"
        change = styled(console, f"{entry.change:<8}", STYLES[entry.change])
        lines = entry.insertions + entry.deletions
        signs = styled(console, "+" * inserted, "green") + styled(console, "-" * deleted, "red")
        yield f"{change}  {place:<{width}} | {lines:>{number}} {signs}".rstrip()
    yield diff_counts(diffs)


def diff_counts(diffs: Sequence[FileDiffEntry]) -> str:
    """Return `3 files: 1 added, 2 modified, 0 deleted; 5 insertions(+), 2 deletions(-)`."""
    changes: list[str] = [entry.change for entry in diffs]
    words = ", ".join(f"{changes.count(change)} {change}" for change in STYLES)
    inserted = counted(sum(entry.insertions for entry in diffs), "insertion")
    deleted = counted(sum(entry.deletions for entry in diffs), "deletion")
    return f"{counted(len(diffs), 'file')}: {words}; {inserted}(+), {deleted}(-)"


def _bar(entry: FileDiffEntry, most: int, longest: int) -> tuple[int, int]:
    """Return the lengths of the two parts of a bar; a part of a change is never empty."""
    if most <= longest:
        return entry.insertions, entry.deletions
    lengths = (entry.insertions * longest // most, entry.deletions * longest // most)
    return (
        max(lengths[0], 1 if entry.insertions else 0),
        max(lengths[1], 1 if entry.deletions else 0),
    )


def capped(
    console: Console, lines: Sequence[tuple[str, str]], most: int = MOST_LINES
) -> Iterator[str]:
    """Yield the first lines, which come after their styles, indented, and the number of others."""
    for style, line in lines[:most]:
        yield f"  {styled(console, line, style)}"
    if len(lines) > most:
        yield f"  … and {len(lines) - most} more; --output json lists all"
