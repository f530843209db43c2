"""The clock of a shell: the machine's, or that of the sandbox that the shell uses."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.cli.process import clock_of
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import SANDBOX_CLOCK

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_a_shell_without_a_sandbox_has_the_clock_of_the_machine() -> None:
    now, sleep = clock_of({})
    assert abs(now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert sleep is time.sleep


def test_a_fast_sandbox_is_ahead_and_waits_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.time", lambda: 1010.0)
    monkeypatch.setattr("time.sleep", waited.append)
    now, sleep = clock_of({SANDBOX_CLOCK: f"1000 {NOON.timestamp()} 20"})
    assert now() == NOON + timedelta(seconds=200)
    sleep(60)
    assert waited == [3]


@pytest.mark.parametrize("text", ["20", "1 2 3 4", "a b c"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not the clock of a sandbox"):
        clock_of({SANDBOX_CLOCK: text})
