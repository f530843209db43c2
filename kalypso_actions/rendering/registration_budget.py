"""The limit of work that the texts of one registration may cause, including trial renderings.

`gotemplate.budget` has the limits of a single assignment. They are not enough, because a few
targets on many cluster types make thousands of assignments. The platform team decides on how many
cluster types a target runs, so work that usual texts would cause as well does not count: only the
excess does, whatever the number of assignments. The unit of work is a character, as in
`gotemplate.budget`, not a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment

ASSIGNMENT_WORK: Final = 16 << 20
REGISTRATION_EXCESS: Final = 32 << 20

TIMES_USUAL: Final = 4
"""Up to so many times the work of usual texts in the same Templates is no excess: special
characters take two or three renderings, and keys or names that seem wrong take another one."""

SCHEMA_WORK: Final = 8 << 10
"""The work of a target's own schemas that is no excess, enough for a hundred values."""

EACH: Final = 1 << 10
"""The work of each assignment in addition to all other work."""

REFUSAL: Final = (
    f"the texts of the registration take {REGISTRATION_EXCESS >> 20} Mi characters of work more "
    "than usual texts"
)
"""The message for a registration with too much excess."""

Spend = Callable[[int], None]
"""Counts work before it is done; raises RegistrationBudgetError."""

UsualWork = Callable[[Assignment, MergedConfig, int], int]
"""Returns the work of usual texts in an assignment that takes the given work. An estimate is enough
if it shows that this work is no excess."""


def share_of_registration(assignments: int) -> int:
    """Return the excess that each assignment may have so that all together keep the limit.

    Similar numbers have the same share, so another target rarely changes it.
    """
    return REGISTRATION_EXCESS >> assignments.bit_length()


class RegistrationBudgetError(Exception):
    """An assignment or its whole registration would take too much; the message says which.

    `is_repeated`: an earlier assignment of the registration has met its limit already.
    """

    def __init__(self, message: str, *, is_repeated: bool = False) -> None:
        super().__init__(message)
        self.is_repeated = is_repeated


def is_excessive(excess: int) -> bool:
    """Return whether the assignments of a registration have more excess than it may cause."""
    return excess > REGISTRATION_EXCESS


class RegistrationBudget:
    """Counts the work of one registration; calls `usual_work` once for each assignment."""

    def __init__(self, usual_work: UsualWork) -> None:
        self._usual_work = usual_work
        self.excess = 0
        """The work of all assignments so far beyond that of usual texts."""
        self._is_refused = False
        self._work = self._limit = 0

    def begin(self, assignment: Assignment, config: MergedConfig) -> None:
        """Count an assignment. Raises RegistrationBudgetError."""
        self._current, self._work = (assignment, config), EACH
        if self._is_refused:
            raise RegistrationBudgetError(REFUSAL, is_repeated=True)
        self._limit = min(ASSIGNMENT_WORK, REGISTRATION_EXCESS - self.excess)

    def spend(self, work: int) -> None:
        """Count work for the present assignment. Raises RegistrationBudgetError."""
        self._work += work
        if self._work <= self._limit:
            return
        usual = TIMES_USUAL * self._usual_work(*self._current, self._work)
        of_assignment = max(ASSIGNMENT_WORK, usual)
        of_registration = usual + REGISTRATION_EXCESS - self.excess
        if self._work > of_registration:
            self._is_refused = True
            raise RegistrationBudgetError(REFUSAL)
        if self._work > of_assignment:
            raise RegistrationBudgetError(
                f"the assignment takes more than {of_assignment >> 20} Mi characters of work"
            )
        self._limit = min(of_assignment, of_registration)

    def end_schemas(self) -> None:
        """Set apart the work so far, which is that of schemas, up to that of usual ones."""
        self._work -= min(self._work - EACH, SCHEMA_WORK)

    def end(self) -> None:
        """Add the present assignment's work to the excess, beyond that of usual texts."""
        usual = TIMES_USUAL * self._usual_work(*self._current, self._work)
        self.excess += max(0, self._work - usual)
