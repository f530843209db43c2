"""The log of a branch of text files: the lines that each commit takes away and brings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

CHUNK: Final = 500
"""Commits to compare at once: git rebuilds their first files from deltas each time."""

DIFF_TREE: Final = (
    "diff-tree",
    "--stdin",
    "-p",
    "-U0",
    "--root",
    "--text",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class ChangedLines(NamedTuple):
    """The lines of a file that a commit takes away and brings, without their line breaks."""

    removed: list[str]
    added: list[str]


class CommitLines(NamedTuple):
    """A commit, and what it changes by path."""

    commit: str
    files: Mapping[str, ChangedLines]


class LineLog(NamedTuple):
    """Commits of a first-parent line, the oldest first.

    `continues`: they follow the commit after which they were asked; else these are all commits.
    """

    continues: bool
    commits: Iterator[CommitLines]


def read_line_log(run: Callable[..., bytes], commit: str, after: str = "") -> LineLog:
    """Return the commits of a first-parent line after `after`, or all if it is not on the line.

    `run` calls git in a repository that has their files. Files with names that git quotes are left
    out: no table has such a name.
    """
    line = run("rev-list", "--first-parent", "--reverse", "--parents", "--end-of-options", commit)
    rows = [row.split(" ")[:2] for row in line.decode().splitlines()]
    known = next((n for n, row in enumerate(rows, 1) if row[0] == after), 0)
    return LineLog(known > 0, _changes(run, rows[known:]))


def _changes(run: Callable[..., bytes], rows: Sequence[Sequence[str]]) -> Iterator[CommitLines]:
    """Yield the changed lines of commits, which are given with their first parents.

    While a chunk is used, git compares the next one.
    """
    chunks = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]

    def compare(chunk: Sequence[Sequence[str]]) -> bytes:
        return run(*DIFF_TREE, stdin="".join(f"{' '.join(row)}\n" for row in chunk).encode())

    with ThreadPoolExecutor(1) as git:
        compared = [git.submit(compare, chunk) for chunk in chunks[:1]]
        for number, chunk in enumerate(chunks, start=1):
            output = compared.pop().result()
            compared += [git.submit(compare, each) for each in chunks[number : number + 1]]
            changes = parse_diffs(output)
            for commit_id, *_ in chunk:
                yield CommitLines(commit_id, changes.get(commit_id, {}))


def parse_diffs(output: bytes) -> Mapping[str, Mapping[str, ChangedLines]]:
    """Parse the patches of git, which follow the id of their commit."""
    commits: dict[str, dict[str, ChangedLines]] = {}
    files: dict[str, ChangedLines] = {}
    changed = ChangedLines([], [])
    lines = output.decode("utf-8", "replace").split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if hunk := _HUNK.match(line):
            # The counts tell a line of the file from a heading: both may begin with `--- `.
            for texts, count in zip(changed, hunk.groups(), strict=True):
                end = place + int(count or 1)
                texts.extend([text[1:] for text in lines[place:end]])
                place = end + lines[end].startswith("\\")  # "\ No newline at end of file"
        elif line.startswith("diff --git a/"):
            # Both names are equal, since renames are off.
            path = line[len("diff --git a/") :]
            changed = files[path[: (len(path) - len(" b/")) // 2]] = ChangedLines([], [])
        elif len(line) in {40, 64} and line.isalnum():
            files = commits.setdefault(line, {})
    return commits
