"""The limit of work for all assignments of one registration, including trial renderings.

`gotemplate.budget` has the limits of a single assignment. They are not enough, because a few
targets on many cluster types make thousands of assignments. The unit of work is a character, as
there, not a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment

ASSIGNMENT_WORK: Final = 16 << 20
REGISTRATION_WORK: Final = 32 << 20
"""Enough for some thousand assignments with ordinary Templates, all with special characters."""

TIMES_USUAL: Final = 3
"""Comparing special characters takes two or three renderings. So an assignment may take this many
times the work of usual texts in the same Templates, and so may a registration for its first
assignments: Templates that are expensive for everybody must not make a registration unusable."""

FIRST_ASSIGNMENTS: Final = 1_500

EACH: Final = 1 << 10
"""The work of each assignment in addition to all other work."""

Spend = Callable[[int], None]
"""Counts work before it is done; raises RegistrationBudgetError."""

UsualWork = Callable[[Assignment, MergedConfig], int]


def share_of_registration(assignments: int) -> int:
    """Return the work that each assignment may take so that all together keep the limit.

    Twice this share would keep it, too; the rest is for schemas, each of which counts once, for the
    first assignment with it. Similar numbers have the same share, so another target rarely changes
    it.
    """
    return REGISTRATION_WORK >> (assignments.bit_length() + 1)


class RegistrationBudgetError(Exception):
    """An assignment or its whole registration would take too much; the message says which."""


class RegistrationBudget:
    """Counts the work of one registration; calls `usual_work` only if the work is large."""

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
