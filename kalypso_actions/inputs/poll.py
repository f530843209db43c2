"""The inputs of `kalypso poll`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import (
    CdWorkflow,
    ChainInputs,
    CheckPromoteWorkflow,
    DryRun,
    ScheduleWorkflow,
)
from kalypso_actions.inputs.values import Duration, List


class PollInputs(ChainInputs):
    """Inputs of `kalypso poll`."""

    environments: Annotated[List, Field(description="The environments; default: all.")] = ()
    first_environments: Annotated[
        List, Field(description="The same as for ci, which starts CD there.")
    ] = ()
    repair_after: Annotated[
        Duration, Field(description="How long to wait for a started run before starting it again.")
    ] = timedelta(minutes=10)
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    cd_workflow: CdWorkflow = "cd.yaml"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"
    dry_run: DryRun = False
