"""A request, and the status that it is to get."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Json = Any


class Provocation(NamedTuple):
    """A request to `scene.Scene`, and the status that it is to get."""

    status: int
    method: str
    path: str
    body: Json = None
    who: str = "owner"


NOWHERE: Final = "0" * 40
LONG: Final = "x" * 70_000
