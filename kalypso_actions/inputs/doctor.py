"""Inputs of `kalypso doctor`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import ClusterReportsInputs, PlanInputs
from kalypso_actions.inputs.values import Flag


class DoctorInputs(ClusterReportsInputs, PlanInputs):
    """Inputs of `kalypso doctor`.

    The token belongs to a person who may see the settings of both repositories. doctor also
    checks an App, and reads the clusters' reports, if it gets their inputs.
    """

    probe: Annotated[
        Flag,
        Field(
            description="Also try what GitHub accepts: push throw-away branches kalypso/probe-…, "
            "open, label, comment on and merge a pull request between them, post a status. Asks "
            "first, and deletes the branches at the end."
        ),
    ] = False
    dry_run: Annotated[
        Flag, Field(description="Show what --probe would write, and write nothing.")
    ] = False
    yes: Annotated[Flag, Field(description="Probe without asking.")] = False
