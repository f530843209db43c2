"""The checks that doctor has made so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from kalypso_actions.doctor_rules import Check
from kalypso_actions.doctor_rules.check import State
from kalypso_actions.errors import KalypsoError, Problem

T = TypeVar("T")


@dataclass(slots=True)
class Checklist:
    """The checks in order; `place` is the repository of problems that name none."""

    place: str
    checks: list[Check] = field(default_factory=list)

    def add(self, checks: Iterable[Check]) -> None:
        """Add checks."""
        self.checks += checks

    def add_problems(self, state: State, problems: Iterable[Problem], place: str = "") -> None:
        """Add a check of this state for each problem."""
        self.add(Check.of_problem(state, problem, place or self.place) for problem in problems)

    def required(self, call: Callable[[], T], place: str = "") -> T | None:
        """Call a function that reads something the chain needs: an error is a problem."""
        return self._attempt("problem", call, place)

    def optional(self, call: Callable[[], T], place: str = "") -> T | None:
        """Call a function that reads something optional: an error is only a warning."""
        return self._attempt("warning", call, place)

    def _attempt(self, state: State, call: Callable[[], T], place: str) -> T | None:
        try:
            return call()
        except KalypsoError as error:
            self.add_problems(state, error.problems, place)
            return None
