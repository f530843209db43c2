"""One sandbox at a time in a folder: two would write over what the other one has noted."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from kalypso_actions.errors import KalypsoError

FILE: Final = "in-use"

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FolderLock:
    """A folder is ours until it is released; the system does that too, when the program ends.

    Raises KalypsoError where it is somebody else's, or cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise KalypsoError(f"{folder} cannot be used: {error.strerror}") from error
        try:
            _lock(self._file)
        except OSError as error:
            self.release()
            message = f"another sandbox is running in {folder}"
            advice = "stop it, or use another folder"
            raise KalypsoError(message, advice=advice) from error

    def release(self) -> None:
        """Let others have it."""
        os.close(self._file)
