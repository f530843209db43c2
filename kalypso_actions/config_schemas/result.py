"""The result of applying a schema to a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Path: TypeAlias = "tuple[Path, str] | None"
"""The keys that lead to a value, the last one first; None for the whole document."""


class Result:
    """Violations as `field: text`, and a score that compares the branches of an `anyOf`."""

    __slots__ = ("score", "violations")

    def __init__(self) -> None:
        self.score = 0
        self.violations: list[str] = []

    @property
    def valid(self) -> bool:
        """Whether there is no violation."""
        return not self.violations

    def add(self, part: Result) -> None:
        """Add the violations and the score of a part."""
        self.violations += part.violations
        self.score += part.score

    def add_nearest(self, branches: Sequence[Result]) -> None:
        """Add the branch with the highest score; of several, add the first."""
        if branches:
            self.add(max(branches, key=lambda branch: branch.score))


def field_name(path: Path) -> str:
    """Return `a.b.0`, or `(root)`."""
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return ".".join(reversed(keys)) if keys else "(root)"
