"""Long results on a terminal go through a pager."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

SHOW = """
from rich.console import Console
from kalypso_actions.cli.streams import show_paged as show
show(Console(height=10), (f"line {number}" for number in range(%d)))
"""


def shown(lines: int, pager: str | None) -> str:
    """Return the output on a terminal of ten lines."""
    controller, terminal = pty.openpty()
    variables = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONPATH": str(Path.cwd())}
    if pager is not None:
        variables["PAGER"] = pager
    process = subprocess.Popen(
        [sys.executable, "-c", SHOW % lines],
        stdin=terminal, stdout=terminal, stderr=terminal, env=variables, close_fds=True,
    )  # fmt: skip
    os.close(terminal)
    output = b""
    while chunk := _read(controller):
        output += chunk
    process.wait(timeout=30)
    os.close(controller)
    return output.decode()


def _read(controller: int) -> bytes:
    try:
        return os.read(controller, 4096)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


@pytest.mark.parametrize(
    ("lines", "pager", "is_paged"),
    [
        pytest.param(50, "sed s/^/paged:/", True, id="long"),
        pytest.param(5, "sed s/^/paged:/", False, id="it fits"),
        pytest.param(50, "cat", False, id="cat"),
        pytest.param(50, "", False, id="an empty PAGER"),
    ],
)
def test_long_output_is_paged(lines: int, pager: str, is_paged: bool) -> None:
    output = shown(lines, pager).split("\r\n")
    assert len([line for line in output if "line" in line]) == lines
    assert output[0] == ("paged:line 0" if is_paged else "line 0")
