"""Inputs of `kalypso status`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import ClusterReportsInputs
from kalypso_actions.inputs.values import Flag, List


class StatusInputs(ClusterReportsInputs):
    """Inputs of `kalypso status`."""

    environment: Annotated[
        List, Field(description="Only these environments; default: all of the control plane.")
    ] = ()
    clusters: Annotated[
        Flag,
        Field(
            description="Also read the cluster reports: the number of clusters by state, and the "
            "clusters that do not comply, with the reason."
        ),
    ] = False
    watch: Annotated[Flag, Field(description="Look again every 15 seconds, until Ctrl-C.")] = False
