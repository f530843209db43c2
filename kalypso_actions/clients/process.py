"""The one place that starts programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kalypso_actions.errors import KalypsoError


class ProcessError(KalypsoError):
    """A program is absent, failed, or took too long."""


class Programs:
    """Starts programs with an allow-listed part of `environment` (the process's own)."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def find(self, name: str) -> Path | None:
        """Where the program is, by PATH."""
        raise NotImplementedError

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        folder: Path | None = None,
        extra: Mapping[str, str] | None = None,
        inherit: Iterable[str] = (),
        timeout: float = 600,
    ) -> bytes:
        """Standard output of the program. Raises ProcessError."""
        raise NotImplementedError
