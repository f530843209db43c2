"""What can go wrong, for every floor.

    KalypsoError                 problems, each with message, where, advice: exit 1
    └── UsageError               wrong options or inputs: exit 2

A `Problem` is the same as a value: stages collect problems and go on, so that one run reports
all of them; a command raises only when going on makes no sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file of a repository.

    `repository` is the URL or path as the user knows it, `path` is relative to its root, `line`
    and `column` count from 1; 0 means the place as a whole.
    """

    repository: str
    path: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """`repository: path:line:column`, as far as known."""
        place = self.path
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return f"{self.repository}: {place}" if place else self.repository


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, and what to change."""

    message: str
    where: Location | None = None
    advice: str = ""

    def __str__(self) -> str:
        """One line for a terminal or a log."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.advice})" if self.advice else text


class KalypsoError(Exception):
    """Going on makes no sense: the run ends with this message and exit code 1."""

    exit_code = 1

    def __init__(self, message: str, where: Location | None = None, advice: str = "") -> None:
        super().__init__(message)
        self.problems: tuple[Problem, ...] = (Problem(message, where, advice),)

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> Self:
        """One error that tells several problems; there is at least one."""
        error = cls(problems[0].message)
        error.problems = tuple(problems)
        return error

    @property
    def problem(self) -> Problem:
        """The first problem, which is the only one of most errors."""
        return self.problems[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class UsageError(KalypsoError):
    """What the user asked for cannot be meant: exit code 2."""

    exit_code = 2
