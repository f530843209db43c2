"""The engine with all functions gives Go's output or Go's error for every template case."""

from __future__ import annotations

import pytest

from tests.oracle.cases import differences, load_topic, topics
from tools.oracle.ours import answer


@pytest.mark.parametrize("topic", topics("template"))
def test_the_answers_are_gos(topic: str) -> None:
    cases = load_topic("template", topic)
    assert differences(cases, lambda case: answer(case.request), lambda case: case.answer) == {}
