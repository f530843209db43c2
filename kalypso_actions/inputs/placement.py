"""Inputs of placement."""

from __future__ import annotations

from pydantic import AwareDatetime

from kalypso_actions.inputs.paths import Folder
from kalypso_actions.inputs.values import Inputs


class PlacementInputs(Inputs):
    """Inputs of `kalypso placement`: a file or a name, and the folder of the fleet.

    Without `now`, the command uses the clock. With `spread`, it executes `spreadPolicy`.
    """

    placement: str
    fleet: Folder
    now: AwareDatetime | None = None
    spread: bool = False
