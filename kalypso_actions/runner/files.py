"""The environment files that a step writes for the runner.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

from kalypso_actions.errors import KalypsoError

SUMMARY_LIMIT: Final = 1024 * 1024
"""Bytes of one step's summary; GitHub drops a longer one."""

OUTPUT_LIMIT: Final = 1024 * 1024

CUT_NOTE: Final = "\n\n_The summary is longer than GitHub allows; the rest was left out._\n"


def append_output(file: Path, name: str, value: str) -> None:
    """Set an output of the step, with a random delimiter that no value can contain.

    Raises KalypsoError for a value that is too long for GitHub.
    """
    if len(value.encode()) > OUTPUT_LIMIT:
        raise KalypsoError(f"the output {name} is longer than {OUTPUT_LIMIT} bytes")
    delimiter = f"ghadelimiter_{uuid.uuid4()}"
    _append(file, f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def append_summary(file: Path, markdown: str) -> None:
    """Append to the step's summary; cut it after a line at GitHub's limit."""
    used = file.stat().st_size if file.exists() else 0
    room = SUMMARY_LIMIT - used - len(CUT_NOTE)
    written = markdown.rstrip() + "\n\n"
    if len(written.encode()) > room:
        cut = written.encode()[: max(room, 0)].decode("utf-8", "ignore")
        written = cut[: cut.rfind("\n") + 1] + CUT_NOTE
    if used + len(written.encode()) <= SUMMARY_LIMIT:
        _append(file, written)


def append_path(file: Path, folder: Path) -> None:
    """Put a folder to the front of PATH for the job's next steps."""
    _append(file, f"{folder}\n")


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
