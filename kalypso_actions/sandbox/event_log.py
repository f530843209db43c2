"""The events of a world on disk: each is written once, as a line of a file of their own.

They are most of what a world holds, and a world is saved after every request.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from kalypso_actions.errors import KalypsoError
from kalypso_actions.sandbox.entities import Event

FILE: Final = "events.jsonl"

PAYLOADS: Final = 1000
"""Of the newest events; those of older ones are forgotten, for a sandbox may serve for days."""


class EventLog:
    """The file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._last = 0

    def read(self) -> list[Event]:
        """Every event, oldest first. Raises KalypsoError where the file holds something else."""
        content = self._file.read_bytes() if self._file.exists() else b""
        # The last line has no end where writing it was interrupted.
        lines = content.splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        try:
            events = [Event.model_validate_json(line) for line in whole]
        except ValidationError as error:
            message = f"{self._file} is not of this version's sandbox"
            raise KalypsoError(message, advice="start with a new folder") from error
        if len(events) > PAYLOADS or len(whole) < len(lines):
            for event in events[:-PAYLOADS]:
                event.payload = {}
            self._write(events, anew=True)
        self._last = max((event.id for event in events), default=0)
        return events

    def append(self, events: Sequence[Event]) -> None:
        """Write those that are not in the file yet; ids grow."""
        new = []
        for event in reversed(events):
            if event.id <= self._last:
                break
            new.append(event)
        if new:
            self._write(new[::-1], anew=False)
            self._last = new[0].id

    def _write(self, events: Sequence[Event], *, anew: bool) -> None:
        text = "".join(f"{event.model_dump_json()}\n" for event in events)
        if not anew:
            self._file.touch(mode=0o600)
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            return
        draft = self._file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(self._file)
