"""Diffs on a terminal: the lines, coloured as git colours them, or a summary of each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.style import Style

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.terminal_escaping import escape_log_line

_ADDED: Final = Style.parse("green")
_DELETED: Final = Style.parse("red")
_PLACE: Final = Style.parse("cyan")
_HEAD: Final = Style.parse("bold")
_NOTE: Final = Style.parse("dim")
_OF_CHANGE: Final = {"added": _ADDED, "modified": Style.parse("yellow"), "deleted": _DELETED}
_STYLES: Final = {"+": _ADDED, "-": _DELETED, "@": _PLACE, "\\": _NOTE}

LONGEST_BAR: Final = 40


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
            style = _HEAD if in_head else _STYLES.get(line[:1])
            yield styled(console, escape_log_line(line), style)


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
        change = styled(console, f"{entry.change:<8}", _OF_CHANGE[entry.change])
        lines = entry.insertions + entry.deletions
        signs = styled(console, "+" * inserted, _ADDED) + styled(console, "-" * deleted, _DELETED)
        yield f"{change}  {place:<{width}} | {lines:>{number}} {signs}".rstrip()
    yield diff_counts(diffs)


def diff_counts(diffs: Sequence[FileDiffEntry]) -> str:
    """Return `3 files: 1 added, 2 modified, 0 deleted; 5 insertions(+), 2 deletions(-)`."""
    changes: list[str] = [entry.change for entry in diffs]
    words = ", ".join(f"{changes.count(change)} {change}" for change in _OF_CHANGE)
    inserted = counted(sum(entry.insertions for entry in diffs), "insertion")
    deleted = counted(sum(entry.deletions for entry in diffs), "deletion")
    return f"{counted(len(diffs), 'file')}: {words}; {inserted}(+), {deleted}(-)"


def styled(console: Console, text: str, style: Style | None) -> str:
    """Return a text with the codes of a style, as far as the console has colours."""
    if not text or style is None or console.no_color or console.color_system is None:
        return text
    return style.render(text)


def _bar(entry: FileDiffEntry, most: int, longest: int) -> tuple[int, int]:
    """Return the lengths of the two parts of a bar; a part of a change is never empty."""
    if most <= longest:
        return entry.insertions, entry.deletions
    lengths = (entry.insertions * longest // most, entry.deletions * longest // most)
    return (
        max(lengths[0], 1 if entry.insertions else 0),
        max(lengths[1], 1 if entry.deletions else 0),
    )
