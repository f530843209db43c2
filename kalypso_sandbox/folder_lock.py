"""A lock that lets one sandbox at a time use a folder."""

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
    """Locks a folder until release; the operating system releases it when the program ends.

    Raises KalypsoError if another sandbox holds the lock, or the folder cannot be used.
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
        """Release the lock."""
        os.close(self._file)
