"""Random stories of the chain: known ones, or as many new ones as KALYPSO_STORIES says.

`make test` plays 3 of the known ones, `make test-slow` 24 others. Half of the new ones are of
environments with policies; `-k policies` selects these.

They are split over shards, which run at the same time and have seeds of their own. A story that
fails is the last of its shard. It prints its events line by line, its steps, and two ways to repeat
it:

    KALYPSO_SEED=<seed of the shard> make stories       the shard
    KALYPSO_STORY="b'<what is printed>'" make stories   the story alone

KALYPSO_SHRINK=1 also searches for a shorter story that fails, for some minutes. Repeat a shard of
known stories by its test's name.
"""

from __future__ import annotations

import ast
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, reproduce_failure, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.chain.machine.policies import PolicyStory
from tests.chain.machine.steps import Story
from tests.chain.opening import Opening

MANY = int(os.environ.get("KALYPSO_STORIES", "0"))
SEED = os.environ.get("KALYPSO_SEED", "")
STORY = os.environ.get("KALYPSO_STORY", "")

SHARD = 20
"""New stories of a shard; hypothesis begins each shard with the simplest story."""

SHARDS = 1 if SEED or STORY else -(-MANY // (2 * SHARD))
# Workers of pytest must agree on the names of tests, so the seeds are not random among them.
FIRST = int(os.environ.get("KALYPSO_FIRST_SEED", "0"))
SEEDS = [int(SEED)] if SEED else [FIRST + number for number in range(SHARDS)]
KNOWN = [
    pytest.param(Story, 0, 2, id="0"),
    pytest.param(Story, 1, 12, id="1", marks=pytest.mark.slow),
    pytest.param(PolicyStory, 0, 1, id="policies-0"),
    pytest.param(PolicyStory, 1, 12, id="policies-1", marks=pytest.mark.slow),
]
CASES = [
    pytest.param(kind, number, SHARD, id=f"{name}{number}")
    for name, kind in {"": Story, "policies-": PolicyStory}.items()
    for number in SEEDS
] or KNOWN

SETTINGS = settings(
    stateful_step_count=15 if SEEDS else 10,
    database=None,
    phases=(Phase.generate, *([Phase.shrink] if os.environ.get("KALYPSO_SHRINK") else [])),
    report_multiple_bugs=False,
    print_blob=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize(("kind", "number", "count"), CASES)
def test_every_story_comes_to_rest(
    kind: type[Story], number: int, count: int, begun: Callable[[str], Opening], tmp_path: Path
) -> None:
    stories = itertools.count(1)
    started = time.monotonic()

    def story() -> Story:
        return kind(begun, tmp_path / f"{next(stories)}")

    chosen = seed(number)(story)
    if STORY:
        chosen = reproduce_failure(hypothesis.__version__, ast.literal_eval(STORY))(story)
    try:
        steps = 9 if kind is PolicyStory else SETTINGS.stateful_step_count  # each does more
        limited = settings(SETTINGS, max_examples=count + 1, stateful_step_count=steps)
        run_state_machine_as_test(chosen, settings=limited)  # type: ignore[arg-type]  # is called
    finally:
        seconds = time.monotonic() - started
        print(f"{next(stories) - 1} stories of the seed {number} in {seconds:.0f} s")  # noqa: T201
