"""A request, and its expected status."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Json = Any


class Provocation(NamedTuple):
    """A request by `populated_sandbox.Scene.request`, and its expected status."""

    status: int
    method: str
    path: str
    body: Json = None
    who: str = "owner"


NOWHERE: Final = "0" * 40
LONG: Final = "x" * 70_000
