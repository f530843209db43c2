"""The work that the texts of one registration may cause beyond that of usual texts."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.rendering.registration_budget import (
    ASSIGNMENT_WORK,
    EACH,
    REFUSAL,
    REGISTRATION_EXCESS,
    SCHEMA_WORK,
    RegistrationBudget,
    RegistrationBudgetError,
)
from tests.breaks import breaks, turned

NONE: Any = None
MOST = ASSIGNMENT_WORK - EACH
"""The most work of an assignment whose usual texts take none."""


def spent(budget: RegistrationBudget, work: int) -> None:
    budget.begin(NONE, NONE)
    budget.spend(work)
    budget.end()


@breaks(
    "an assignment may take any work",
    turned(RegistrationBudget.spend, "self._work > of_assignment", "False"),
)
def test_an_assignment_may_take_its_share_or_four_times_the_usual() -> None:
    spent(RegistrationBudget(lambda *_: 0), MOST)
    with pytest.raises(RegistrationBudgetError, match="more than 16 Mi characters"):
        spent(RegistrationBudget(lambda *_: 0), MOST + 1)
    usual = ASSIGNMENT_WORK
    spent(RegistrationBudget(lambda *_: usual), 4 * usual - EACH)
    with pytest.raises(RegistrationBudgetError, match="more than 64 Mi characters"):
        spent(RegistrationBudget(lambda *_: usual), 4 * usual)


@breaks(
    "a registration may take any excess",
    turned(RegistrationBudget.spend, "self._work > of_registration", "False"),
)
@breaks(
    "a registration that is refused goes on",
    turned(RegistrationBudget.begin, "self._is_refused", "False"),
)
@breaks(
    "the work of earlier assignments does not count",
    turned(RegistrationBudget.end, "max(0, self._work - usual)", "0"),
)
def test_the_excess_of_all_assignments_is_limited() -> None:
    budget = RegistrationBudget(lambda *_: 0)
    for _ in range(REGISTRATION_EXCESS // ASSIGNMENT_WORK):
        spent(budget, MOST)
    for is_repeated in (False, True):
        with pytest.raises(RegistrationBudgetError) as refused:
            spent(budget, 1)
        assert (str(refused.value), refused.value.is_repeated) == (REFUSAL, is_repeated)


@breaks(
    "usual work counts as excess",
    turned(RegistrationBudget.end, "self._work - usual", "self._work"),
)
def test_the_work_of_usual_texts_is_never_too_much() -> None:
    budget = RegistrationBudget(lambda _assignment, _config, work: work)
    for _ in range(100):
        spent(budget, MOST)
    assert budget.excess == 0


def test_a_targets_own_schemas_have_a_share_of_their_own() -> None:
    budget = RegistrationBudget(lambda *_: 0)
    for work in (SCHEMA_WORK, SCHEMA_WORK + 1):
        budget.begin(NONE, NONE)
        budget.spend(work)
        budget.end_schemas()
        budget.end()
    assert budget.excess == 2 * EACH + 1
