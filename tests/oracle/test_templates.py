"""The engine with all functions gives Go's output or Go's error for every template case."""

from __future__ import annotations

import pytest

from tests.oracle.cases import Case, load
from tools.oracle.ours import answer


@pytest.mark.parametrize("case", load("template"), ids=str)
def test_the_answer_is_gos(case: Case) -> None:
    """A case with `differs` must have another answer, all others Go's."""
    assert (answer(case.request) != case.answer) == bool(case.differs)
