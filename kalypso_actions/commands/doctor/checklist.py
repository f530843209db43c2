"""The checks so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from kalypso_actions.doctor_rules import Check, problem, warning
from kalypso_actions.errors import KalypsoError, Location, Problem

T = TypeVar("T")


@dataclass(slots=True)
class Checklist:
    """What was found of each thing; `place` is the repository that errors without one are about."""

    place: str
    checks: list[Check] = field(default_factory=list)

    def add(self, checks: Iterable[Check]) -> None:
        """These were found."""
        self.checks += checks

    def add_problems(self, problems: Iterable[Problem], place: str = "") -> None:
        """Because of these, something fails."""
        self.add(problem(*_told(one, place or self.place)) for one in problems)

    def add_warnings(self, problems: Iterable[Problem], place: str = "") -> None:
        """Because of these, something may fail."""
        self.add(warning(*_told(one, place or self.place)) for one in problems)

    def required(self, call: Callable[[], T], place: str = "") -> T | None:
        """The result of `call`; where it fails, so does the chain, and the result is None."""
        try:
            return call()
        except KalypsoError as error:
            self.add_problems(error.problems, place)
            return None

    def optional(self, call: Callable[[], T], place: str = "") -> T | None:
        """As `required`, for what the chain works without: where it fails, nobody knows."""
        try:
            return call()
        except KalypsoError as error:
            self.add_warnings(error.problems, place)
            return None


def _told(found: Problem, place: str) -> tuple[str, str, str]:
    return place, f"{_where(found.where, place)}{found.message}", found.advice


def _where(where: Location | None, place: str) -> str:
    """Where it is, as far as the place does not say it."""
    if where is None:
        return ""
    repository = where.repository
    if repository == place or repository.endswith(f"/{place}"):  # by its name, or by its URL
        repository = ""
    if where.path:
        line = f":{where.line}" if where.line else ""
        return f"{where.path}{line}{f' ({repository})' if repository else ''}: "
    return f"{repository}: " if repository else ""
