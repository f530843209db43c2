"""One kind of problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class ProblemCode:
    """A kind of problem: its stable name, cause, an example, and the repair.

    `level` is the level in `kalypso validate`; other commands may use a lower one.
    """

    name: str
    level: Level
    cause: str
    example: str
    repair: str
