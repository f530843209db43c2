"""The outcome of a stage, as OCM's scheduling framework reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal["Success", "Warning", "Error", "Misconfigured"]


@dataclass(frozen=True, slots=True)
class Status:
    """A code, the plugin that reports it, and a message for people."""

    code: Code = "Success"
    plugin: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether scheduling ends here."""
        return self.code in {"Error", "Misconfigured"}


SUCCESS = Status()
