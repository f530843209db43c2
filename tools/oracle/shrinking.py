"""Reduce a sample to a smaller one that still shows the same difference."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from tools.oracle.generator import Sample
from tools.oracle.templates import smaller, tree

Find = Callable[[list[Sample]], Sample | None]
"""Returns the first of some samples that still shows the difference."""

BATCH = 200
"""Samples per request, because each request to Go starts a process."""

TIME_LIMIT = 30.0
"""Seconds for one sample; each infinite loop in a candidate takes Go's time limit."""


def shrunk(sample: Sample, find: Find) -> Sample:
    """Return the sample without irrelevant branches, data and characters."""
    end = time.monotonic() + TIME_LIMIT
    for steps in (_fewer_branches, _less_data, _fewer_characters):
        while (simpler := _first(steps(sample), find, end)) is not None:
            sample = simpler
    return sample


def _first(candidates: Iterator[Sample], find: Find, end: float) -> Sample | None:
    while time.monotonic() < end and (batch := list(islice(candidates, BATCH))):
        if (simpler := find(batch)) is not None:
            return simpler
    return None


def _fewer_branches(sample: Sample) -> Iterator[Sample]:
    return (replace(sample, template=template) for template in smaller(sample.template))


def _less_data(sample: Sample) -> Iterator[Sample]:
    for name, content in sample.data.items():
        if not content:
            continue
        yield replace(sample, data={**sample.data, name: type(content)()})
        if isinstance(content, dict):
            for key in content:
                rest = {other: content[other] for other in content if other != key}
                yield replace(sample, data={**sample.data, name: rest})


def _fewer_characters(sample: Sample) -> Iterator[Sample]:
    text = str(sample.template)
    size = len(text) // 2
    while size:
        for start in range(0, len(text) - size + 1, size):
            yield replace(sample, template=tree("body", text[:start] + text[start + size :]))
        size //= 2
