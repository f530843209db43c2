"""A run that is interrupted: by Ctrl-C, or by who cancels the job."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from kalypso_actions.clients.process import end_programs


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT and SIGTERM end the programs that run, and then the run, by KeyboardInterrupt.

    Programs have sessions of their own, which neither a terminal nor a runner ends; and folders are
    removed only where a run comes to its end. A second signal does what it did before.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = {number: one for number, one in before.items() if one is not signal.SIG_IGN}

    def restore() -> None:
        for number, handler in heard.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def interrupt(*_: object) -> None:
        restore()
        end_programs()
        raise KeyboardInterrupt

    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()
