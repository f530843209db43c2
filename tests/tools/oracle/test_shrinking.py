"""Shrinking: the result is small, and still shows the difference."""

from collections.abc import Callable

import pytest

from tools.oracle.generator import Sample, generate
from tools.oracle.shrinking import Find, shrunk
from tools.oracle.templates import smaller, tree


def finder(holds: Callable[[Sample], bool]) -> Find:
    def find(samples: list[Sample]) -> Sample | None:
        return next((sample for sample in samples if holds(sample)), None)

    return find


@pytest.mark.parametrize("number", range(10))
def test_only_what_matters_is_left(number: int) -> None:
    sample = generate(5, number)
    marked = Sample(tree("body", sample.template, tree("item", "{{ fail }}")), sample.data)
    small = shrunk(marked, finder(lambda sample: "fail" in str(sample.template)))
    assert str(small.template) == "fail"
    assert not any(small.data.values())


def test_data_that_matters_is_kept() -> None:
    sample = Sample(tree("body", "abc"), {"Labels": {"a": "1", "b": "2"}, "Workload": "w"})

    def has_the_label(sample: Sample) -> bool:
        labels = sample.data["Labels"]
        return isinstance(labels, dict) and "b" in labels

    small = shrunk(sample, finder(has_the_label))
    assert small.data == {"Labels": {"b": "2"}, "Workload": ""}


def test_branches_give_way_to_their_own_kind() -> None:
    inner = tree("pipeline", tree("call", "upper ", tree("argument", '"a"')))
    outer = tree("pipeline", tree("call", "lower ", tree("argument", "(", inner, ")")))
    texts = [str(candidate) for candidate in smaller(outer)]
    assert 'upper "a"' in texts
    assert all(len(text) < len(str(outer)) for text in texts)
