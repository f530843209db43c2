"""The limit of work for all assignments of one registration, including trial renderings.

The limits of an assignment bound nothing, because a few targets on many cluster types are
thousands. Work is counted in characters, as in `gotemplate.Limits`, never in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment

ASSIGNMENT_WORK: Final = 16 << 20
REGISTRATION_WORK: Final = 32 << 20
"""Some thousand assignments with ordinary Templates, special characters in all of them included."""

TIMES_USUAL: Final = 3
"""Comparing special characters renders two or three times. An assignment may take this many times
what usual texts take in the same Templates, and a registration so much for its first assignments:
Templates that are expensive for everybody make no registration unusable."""

FIRST_ASSIGNMENTS: Final = 1_500

EACH: Final = 1 << 10
"""An assignment that takes nothing else."""

Spend = Callable[[int], None]
"""Counts work before it is done; raises RegistrationBudgetError."""

UsualWork = Callable[[Assignment, MergedConfig], int]


def share_of_registration(assignments: int) -> int:
    """Return work that each assignment of a registration may take: all together keep the limit.

    Twice the share would: a schema is paid for once, by whichever assignment comes first. The share
    is the same for similar numbers, so that another target rarely changes it.
    """
    return REGISTRATION_WORK >> (assignments.bit_length() + 1)


class RegistrationBudgetError(Exception):
    """An assignment, or all of its registration, would take too much; the text says which."""


class RegistrationBudget:
    """Counts the work of one registration; `usual_work` is only asked if it is much."""

    def __init__(self, usual_work: UsualWork) -> None:
        self._usual_work = usual_work
        self._first: list[tuple[Assignment, MergedConfig]] = []
        self._count = 0
        self._refusal = ""
        self._work = self._work_before = 0
        self._limit, self._assignment_limit = REGISTRATION_WORK, ASSIGNMENT_WORK
        self._usual = 0

    @property
    def work(self) -> int:
        """The work of all assignments so far."""
        return self._work

    def begin(self, assignment: Assignment, config: MergedConfig) -> None:
        """Count an assignment. Raises RegistrationBudgetError."""
        if self._refusal:
            raise RegistrationBudgetError(self._refusal)
        self._current = assignment, config
        self._count += 1
        if self._count <= FIRST_ASSIGNMENTS:
            self._first.append(self._current)
        self._work_before, self._assignment_limit = self._work, ASSIGNMENT_WORK
        self.spend(EACH)

    def spend(self, work: int) -> None:
        """Count work for the present assignment. Raises RegistrationBudgetError."""
        self._work += work
        if self._work > self._limit:
            self._usual += sum(self._usual_work(*item) for item in self._first)
            self._first.clear()
            self._limit = max(REGISTRATION_WORK, TIMES_USUAL * self._usual)
            if self._work > self._limit:
                self._refusal = (
                    f"the registration takes more than {self._limit >> 20} Mi characters of work "
                    f"for its first {self._count} assignments"
                )
                raise RegistrationBudgetError(self._refusal)
        if self._work - self._work_before > self._assignment_limit:
            usual = self._usual_work(*self._current)
            self._assignment_limit = max(ASSIGNMENT_WORK, TIMES_USUAL * usual)
            if self._work - self._work_before > self._assignment_limit:
                raise RegistrationBudgetError(
                    f"the assignment takes more than {self._assignment_limit >> 20} Mi characters "
                    "of work"
                )
