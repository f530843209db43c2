"""The inputs of `kalypso ci`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kalypso_actions.inputs.chain import CdWorkflow, DryRun, PlanInputs
from kalypso_actions.inputs.values import CommitId, List


class CiInputs(PlanInputs):
    """Inputs of `kalypso ci`."""

    commit: Annotated[
        CommitId, Field(description="The commit of main to check; default: the current one.")
    ] = None
    first_environments: Annotated[
        List,
        Field(description="Where CD begins; default: as annotated on the Environment objects."),
    ] = ()
    start_cd: Annotated[
        Literal["auto", "true", "false"],
        Field(description="Start CD: auto (on a push to main), true or false."),
    ] = "auto"
    cd_workflow: CdWorkflow = "cd.yaml"
    dry_run: DryRun = False
