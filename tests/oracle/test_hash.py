"""`hash` returns the same number as hashstructure."""

from __future__ import annotations

from kalypso_actions.rendering.hashstructure import hash_of
from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget
from tests.oracle.cases import Case, differences, load
from tests.oracle.tagged import from_tagged


def test_the_numbers_are_gos() -> None:
    def ours(case: Case) -> str:
        return str(hash_of(from_tagged(case.request["value"]), Budget(DEFAULT_LIMITS)))

    assert differences(load("hash"), ours, lambda case: case.output) == {}
