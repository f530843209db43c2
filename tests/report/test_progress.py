"""Progress: nothing stale, and plain lines without a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kalypso_actions.report import terminal
from kalypso_actions.report.terminal import ProgressDisplay


class Time:
    """A clock that tests move."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(terminal, "time", time)
    return time


def test_plain_lines_only_of_a_slow_step(clock: Time) -> None:
    stream = StringIO()
    with ProgressDisplay(lambda: Console(file=stream), "rendering") as display:
        clock.now += 60  # fetching took this long
        update = display.of("rendering")
        for done in range(4):
            update(done, 4)
            clock.now += 3
        update(4, 4)
    assert stream.getvalue() == "rendering: 2 of 4\n"


def test_nothing_to_do_shows_nothing(clock: Time) -> None:
    stream = StringIO()
    with ProgressDisplay(lambda: Console(file=stream), "rendering") as display:
        clock.now += 60
        display.update(0, 0)
    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal_is_removed_at_the_end(clock: Time) -> None:
    stream = StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with ProgressDisplay(lambda: console, "x") as display:
        update = display.of("fetching")
        update(0, 3)
        clock.now += 2
        update(1, 3)
        update(3, 3)
    assert "fetching" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")
