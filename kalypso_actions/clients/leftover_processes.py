"""End the processes that a program leaves behind, in any session."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36
"""https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html"""

LONGEST: Final = 10.0
"""The maximum number of seconds to spend on processes that keep starting new ones."""


@contextmanager
def ending_leftovers() -> Iterator[None]:
    """After the block, kill every process that the block's programs have left behind.

    An orphan becomes a child of this process, even if it has its own session. No other thread may
    start a program in the meantime. Only Linux can do this; elsewhere the block just runs.
    Processes of other users stay.
    """
    if sys.platform != "linux":
        yield
        return
    earlier_children = _children()
    _set_subreaper(1)
    try:
        yield
    finally:
        end = time.monotonic() + LONGEST
        while (leftovers := _children() - earlier_children) and time.monotonic() < end:
            for process in leftovers:
                try:
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)  # its children become ours
                except PermissionError:  # another user's, by sudo
                    earlier_children.add(process)
        _set_subreaper(0)


def _set_subreaper(value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def _children() -> set[int]:
    """Return the ids of this process's children."""
    own, children = str(os.getpid()), set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # The name, in parentheses, may contain any character.
                fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if fields[1] == own:
                    children.add(int(folder.name))
    return children
