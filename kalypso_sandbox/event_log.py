"""The events of a store on disk, in a separate file with a line for each event.

The sandbox saves the store after every request, but writes each event once: events are most of the
data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.entities import Event

FILE: Final = "events.jsonl"

PAYLOADS: Final = 1000
"""The number of newest events that keep their payloads, because a sandbox may run for days."""


class EventLog:
    """The event file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._last = 0

    def read(self) -> list[Event]:
        """Return every event, oldest first. Raises KalypsoError if the file has another format."""
        content = self._file.read_bytes() if self._file.exists() else b""
        # An interrupted write leaves a last line without a newline.
        lines = content.splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        try:
            events = [Event.model_validate_json(line) for line in whole]
        except ValidationError as error:
            message = f"{self._file} was not written by this version's sandbox"
            raise KalypsoError(message, advice="start with a new folder") from error
        if len(events) > PAYLOADS or len(whole) < len(lines):
            for event in events[:-PAYLOADS]:
                event.payload = {}
            self._write(events, replace=True)
        self._last = max((event.id for event in events), default=0)
        return events

    def append(self, events: Sequence[Event]) -> None:
        """Write the events that the file lacks; the ids of events increase."""
        new = []
        for event in reversed(events):
            if event.id <= self._last:
                break
            new.append(event)
        if new:
            self._write(new[::-1], replace=False)
            self._last = new[0].id

    def _write(self, events: Sequence[Event], *, replace: bool) -> None:
        text = "".join(f"{event.model_dump_json()}\n" for event in events)
        if not replace:
            self._file.touch(mode=0o600)
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            return
        draft = self._file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(self._file)
