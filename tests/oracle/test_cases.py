"""Each case has a recorded answer, and each answer has a case."""

import json
from collections import Counter

import pytest

from tests.oracle.cases import EXPECTED, load, ops


@pytest.mark.parametrize("op", ops())
def test_ids_are_unique(op: str) -> None:
    counts = Counter(case.id for case in load(op))
    assert [id_ for id_, times in counts.items() if times > 1] == []


@pytest.mark.parametrize("op", ops())
def test_every_answer_has_its_case(op: str) -> None:
    recorded = {
        (path.stem, id_)
        for path in (EXPECTED / op).glob("*.json")
        for id_ in json.loads(path.read_text(encoding="utf-8"))
    }
    assert recorded == {(case.topic, case.id) for case in load(op)}


@pytest.mark.parametrize("op", ops())
def test_every_answer_is_an_output_or_an_error(op: str) -> None:
    wrong = [str(case) for case in load(op) if set(case.answer) not in ({"output"}, {"error"})]
    assert wrong == []
