"""The inputs of `kalypso notify`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import ChainInputs, DryRun
from kalypso_actions.inputs.values import RepositoryName


class NotifyInputs(ChainInputs):
    """Inputs of `kalypso notify`."""

    control_plane: Annotated[
        RepositoryName, Field(description="The control plane, as owner/name.", min_length=1)
    ]
    workflow: Annotated[
        str, Field(description="The workflow file there that runs check-promote.")
    ] = "check-promote.yaml"
    environment: Annotated[
        str, Field(description="Only this environment; default: all environments of this branch.")
    ] = ""
    dry_run: DryRun = False
