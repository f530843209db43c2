"""Reading in parallel: one error for all failures, and interruptions."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.errors import KalypsoError


class _StoppedError(Exception):
    """The exception of a signal."""


def test_results_are_in_the_order_of_the_items() -> None:
    together = threading.Barrier(3)

    def read(number: int) -> int:
        together.wait(timeout=60)
        return number * 2

    assert in_parallel(read, [3, 1, 2]) == [6, 2, 4]
    assert in_parallel(read, []) == []


def test_everything_that_failed_is_reported_at_once() -> None:
    def read(number: int) -> int:
        if number % 2:
            raise KalypsoError(f"{number} is odd")
        return number

    with pytest.raises(KalypsoError) as caught:
        in_parallel(read, range(4))
    assert [problem.message for problem in caught.value.problems] == ["1 is odd", "3 is odd"]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="Windows signals to no thread")
def test_a_signal_that_another_thread_hears_ends_the_waiting() -> None:
    """The system gives a signal to any thread, but Python handles it in the main thread."""
    heard = threading.Event()
    in_time: list[bool] = []

    def stop(*_: object) -> None:
        heard.set()
        raise _StoppedError

    def read(number: int) -> None:
        if number == 0:
            time.sleep(0.2)  # by then, the main thread waits
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        in_time.append(heard.wait(timeout=20))

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(_StoppedError):
            in_parallel(read, range(100))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert all(in_time)
    assert len(in_time) < 100, "what had not begun never begins"
