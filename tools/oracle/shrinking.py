"""Cut a sample down to a small one of which the same still holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from tools.oracle.generator import Sample
from tools.oracle.templates import smaller, tree

Find = Callable[[list[Sample]], Sample | None]
"""The first of some samples that still shows what is looked for."""

BATCH = 200
"""How many are tried at once: asking Go costs a process each time."""

PATIENCE = 30.0
"""Seconds for one sample. Smaller ones may loop for ever, which takes Go's time limit each time."""


def shrunk(sample: Sample, find: Find) -> Sample:
    """The sample without the branches, the data and the characters that do not matter."""
    end = time.monotonic() + PATIENCE
    for steps in (_fewer_branches, _less_data, _fewer_characters):
        while (found := _first(steps(sample), find, end)) is not None:
            sample = found
    return sample


def _first(candidates: Iterator[Sample], find: Find, end: float) -> Sample | None:
    while time.monotonic() < end and (batch := list(islice(candidates, BATCH))):
        if (found := find(batch)) is not None:
            return found
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
