"""Interruption by Ctrl-C or a cancelled job."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from kalypso_actions.clients.process import end_programs


@contextmanager
def interruptible() -> Iterator[None]:
    """On SIGINT and SIGTERM, end running programs, and raise KeyboardInterrupt.

    The programs have their own sessions, so neither a terminal nor a runner ends them. The
    exception lets the run remove its temporary folders. A second signal has its usual effect.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {
        number: handler for number, handler in before.items() if handler is not signal.SIG_IGN
    }

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def interrupt(*_: object) -> None:
        restore()
        end_programs()
        raise KeyboardInterrupt

    for number in handlers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()
