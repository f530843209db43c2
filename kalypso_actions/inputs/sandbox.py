"""Inputs of `kalypso sandbox`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kalypso_actions.inputs.paths import Folder
from kalypso_actions.inputs.values import RepositoryName

Flavour = Literal["github.com", "ghes"]


class SandboxInputs(BaseModel):
    """Inputs of `kalypso sandbox`; port 0 means the port of the last run, or any free one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: Folder
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    tls: bool = False
    flavour: Flavour = "github.com"
    repository: tuple[Annotated[RepositoryName, Field(min_length=1)], ...] = ()
