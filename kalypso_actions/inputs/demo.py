"""Inputs of `kalypso demo`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from kalypso_actions.inputs.paths import Folder


class DemoInputs(BaseModel):
    """Inputs of `kalypso demo`; without a folder, it creates one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: Folder | None = None
