"""Every template case through the engine with all functions: Go's text, or Go's error."""

from __future__ import annotations

import pytest

from tests.oracle.cases import Case, load
from tools.oracle.ours import answer


@pytest.mark.parametrize("case", load("template"), ids=str)
def test_the_answer_is_gos(case: Case) -> None:
    """Unless `differs` says why ours is another; then it must be another indeed."""
    assert (answer(case.request) != case.answer) == bool(case.differs)
