"""The differences between two commits, parsed from `git diff-tree`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The base of a root commit's diff."""

OPTIONS: Final = ("-r", "-z", "-M", "--raw", "--numstat")
STATES: Final = {"A": "added", "D": "removed", "M": "modified", "T": "changed", "R": "renamed"}


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file: its status in GitHub's words, its blob (the old one if removed), its lines.

    Binary files change no lines. `previous_path` is the old path of a renamed file.
    """

    path: str
    status: str
    blob: str
    additions: int
    deletions: int
    previous_path: str = ""


def parse_diff_tree(output: bytes) -> Sequence[FileChange]:
    """Parse the output of `git diff-tree` with `OPTIONS`: first states, then numbers of lines."""
    words = iter(output.decode("utf-8", "replace").split("\0")[:-1])
    states = []
    lines = {}
    for word in words:
        if word.startswith(":"):
            states.append(_state(word, words))
        else:
            path, added, deleted = _lines(word, words)
            lines[path] = (added, deleted)
    return [
        FileChange(path, status, blob, *lines[path], previous_path=previous)
        for path, status, blob, previous in states
    ]


def _state(word: str, rest: Iterator[str]) -> tuple[str, str, str, str]:
    """Parse `:mode mode old-blob new-blob state`; one path follows, or two for a renamed file."""
    _, _, old, new, state = word.split(" ")
    path = next(rest)
    status = STATES[state[0]]
    if status == "renamed":
        return next(rest), status, new, path
    return path, status, old if status == "removed" else new, ""


def _lines(word: str, rest: Iterator[str]) -> tuple[str, int, int]:
    """Parse `added<TAB>deleted<TAB>path`; two paths follow if renamed; `-` for binary files."""
    added, deleted, path = word.split("\t", 2)
    if not path:
        next(rest)
        path = next(rest)
    return path, _count(added), _count(deleted)


def _count(number: str) -> int:
    return 0 if number == "-" else int(number)
