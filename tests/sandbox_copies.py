"""Sandboxes that are filled once and copied for each test.

A copy is served at the port of the original, which the URLs in its repositories contain.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from pathlib import Path
from typing import Final

from kalypso_sandbox.server import HOST

FOLDER: Final = "sandbox"
"""The sandbox's folder below that of a test."""

WAITS: Final = 600
SECONDS: Final = 0.1


def copy_sandbox(original: Path, copy: Path) -> None:
    """Copy a stopped sandbox from one folder of a test to another; git objects are shared."""
    shutil.copytree(original / FOLDER, copy / FOLDER, copy_function=_copy)


def _copy(source: str, target: str) -> None:
    """Copy a file, or link it if it never changes."""
    if "/objects/" in source:
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


def wait_until_free(port: int) -> None:
    """Wait for the port: another test may use it for a short time."""
    for _ in range(WAITS):
        try:
            socket.create_server((HOST, port)).close()
        except OSError:
            time.sleep(SECONDS)
        else:
            return
