"""What applying a schema to a value gives: violations, and how well the value fitted."""

from __future__ import annotations

from typing import TypeAlias

Path: TypeAlias = "tuple[Path, str] | None"
"""The names that lead to a value, the last one first; None is the whole document."""


class Outcome:
    """Violations as `field: text`, and the score by which branches of an `anyOf` compare."""

    __slots__ = ("score", "violations")

    def __init__(self) -> None:
        self.score = 0
        self.violations: list[str] = []

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.violations

    def take(self, other: Outcome) -> None:
        """What a part found counts here too."""
        self.violations += other.violations
        self.score += other.score


def field(path: Path) -> str:
    """`a.b.0`, or `(root)`."""
    names = []
    while path is not None:
        path, name = path
        names.append(name)
    return ".".join(reversed(names)) if names else "(root)"
