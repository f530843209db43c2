"""`hash` returns the same number as hashstructure."""

from __future__ import annotations

import pytest

from kalypso_actions.gotemplate.budget import DEFAULT_LIMITS, Budget
from kalypso_actions.rendering.hashing import hash_of
from tests.oracle.cases import Case, load
from tests.oracle.tagged import from_tagged


@pytest.mark.parametrize("case", load("hash"), ids=str)
def test_the_number_is_gos(case: Case) -> None:
    assert str(hash_of(from_tagged(case.request["value"]), Budget(DEFAULT_LIMITS))) == case.output
