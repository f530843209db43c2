"""This process: its imports, its interruption, and what other programs see of it."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from types import ModuleType
from typing import Final

from kalypso_actions.clients.process import end_programs
from kalypso_actions.errors import UsageError

COLLECTED_AFTER: Final = 1_000_000
"""Garbage collection starts after this number of new objects. A plan's objects live until the end
of the run, and few of them refer to each other: collections after 50,000 objects took a tenth of
the time of a run's main process, and freed nothing that its largest memory shows."""

COLLECTED_EVERY: Final = 2.0
"""The processor time, in seconds, between two collections of a server; one takes about 0.1 s."""

M_ARENA_MAX: Final = -8
"""The number of arenas of glibc: https://man7.org/linux/man-pages/man3/mallopt.3.html"""


def import_command(module: str) -> ModuleType:
    """Import a module without garbage collection.

    A collection would find nothing, and take a fifth of the time to start. Imported objects live
    until the end, so later collections skip them.
    """
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER)
        gc.enable()


class ServerMemory:
    """The memory of a process that serves for days: its requests and runs leave garbage.

    memory = ServerMemory()
    while not stopped.wait(1):
        memory.give_back()
    """

    def __init__(self) -> None:
        libc = ctypes.CDLL(None) if sys.platform == "linux" else None
        self._trim = getattr(libc, "malloc_trim", None)
        if libc and self._trim:  # glibc, where the arena of each thread keeps what is free
            libc.mallopt(M_ARENA_MAX, 1)
        self._collected_at = time.process_time()

    def give_back(self) -> None:
        """Collect garbage, and return free memory, if the process has worked since the last time.

        Python collects late if most objects live until the end, and glibc keeps what is free.
        """
        if time.process_time() - self._collected_at < COLLECTED_EVERY:
            return
        gc.collect()
        if self._trim:
            self._trim(0)
        self._collected_at = time.process_time()


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


PR_SET_DUMPABLE: Final = 4
"""https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html"""


def hide_process(is_public: Callable[[str], bool]) -> None:
    """Erase variables from /proc/<pid>/environ, and make /proc/<pid> unreadable for the user.

    The kernel shows the variables that a process started with, even if the process removes them
    later. Erasing hides them even from root, who can read every process; `os.environ` stays as it
    is. Variables whose names `is_public` accepts remain. Only Linux has /proc; elsewhere the
    function does nothing.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    block = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
    index = 0
    while address := block[index]:
        name, _, value = ctypes.string_at(address).partition(b"=")
        if not is_public(name.decode("utf-8", "replace")):
            ctypes.memset(address + len(name) + 1, 0, len(value))
        index += 1
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE) failed")


def clock_of(
    environment: Mapping[str, str],
) -> tuple[Callable[[], datetime], Callable[[float], None]]:
    """Return what tells the time and what waits: the machine's, or those of a sandbox.

    Raises UsageError for a variable that is not the clock of a sandbox.
    """
    # A signal during its imports must find a handler.
    from kalypso_actions.inputs.local import SANDBOX_CLOCK  # noqa: PLC0415

    text = environment.get(SANDBOX_CLOCK, "")
    if not text:
        return lambda: datetime.now(UTC), time.sleep
    try:
        machine, sandbox, speed = map(float, text.split())
    except ValueError as error:
        message = f"{SANDBOX_CLOCK} is not the clock of a sandbox: {text!r}"
        raise UsageError(message, advice="read the variables of the sandbox again") from error

    def now() -> datetime:
        return datetime.fromtimestamp(sandbox + (time.time() - machine) * speed, UTC)

    return now, lambda seconds: time.sleep(seconds / speed)
