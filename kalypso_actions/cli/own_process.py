"""Hide this process from the programs that it starts: they run as the same user."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Final

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
