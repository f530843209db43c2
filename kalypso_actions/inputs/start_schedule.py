"""The inputs of `kalypso start-schedule`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import ChainInputs, DryRun, ScheduleWorkflow


class StartScheduleInputs(ChainInputs):
    """Inputs of `kalypso start-schedule`."""

    branch: Annotated[str, Field(description="The pushed branch; default: the current one.")] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    dry_run: DryRun = False
