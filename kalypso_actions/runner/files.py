"""The environment files that a step writes for the runner.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kalypso_actions.errors import KalypsoError, Location

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
    """Put a folder at the front of PATH for the job's next steps."""
    _append(file, f"{folder}\n")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of an artifact, which a later step uploads. Raises KalypsoError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        message = f"the artifact cannot be written: {error.strerror}"
        raise KalypsoError(message, Location(str(folder)), "choose another folder") from error


def read_file(path: Path, most: int) -> bytes | None:
    """Return the content of a file in a downloaded artifact; None if there is no such file.

    Raises KalypsoError for a link, which the maker of the artifact chose, and for a file of more
    than `most` bytes.
    """
    try:
        if not path.exists() and not path.is_symlink():
            return None
        if path.is_symlink() or not path.is_file():
            raise KalypsoError("it is not a file", Location(str(path)))
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise KalypsoError(message, Location(str(path))) from error
    if len(content) > most:
        raise KalypsoError(f"it has more than {most} bytes", Location(str(path)))
    return content


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
