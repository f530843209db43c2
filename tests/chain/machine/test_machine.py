"""Random stories of the chain; more of them, and new ones each time, with KALYPSO_STORIES=<many>.

A story that fails is told step by step, with what each run came to, and is told again by the
next run: hypothesis keeps it.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.chain import opening
from tests.chain.machine.acme import SMALL
from tests.chain.machine.steps import Story

MANY = int(os.environ.get("KALYPSO_STORIES", "0"))
SETTINGS = settings(
    max_examples=MANY or 3,
    stateful_step_count=30 if MANY else 10,
    derandomize=not MANY,
    phases=tuple(Phase) if MANY else (Phase.generate,),  # ten steps can be read as they are
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


def test_every_story_comes_to_a_good_end(tmp_path: Path) -> None:
    begun = opening.settled(tmp_path / "opening", SMALL)
    numbers = itertools.count()
    run_state_machine_as_test(
        lambda: Story(begun, tmp_path / f"{next(numbers)}"),  # type: ignore[arg-type]  # is called
        settings=SETTINGS,
    )
