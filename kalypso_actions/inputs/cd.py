"""The inputs of `kalypso cd`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kalypso_actions.inputs.chain import (
    ChainInputs,
    CommitBy,
    DryRun,
    EnvironmentInput,
    ScheduleWorkflow,
    VerifyOnly,
)
from kalypso_actions.inputs.values import Commit, Flag


class CdInputs(ChainInputs):
    """Inputs of `kalypso cd`."""

    environment: EnvironmentInput
    commit: Annotated[Commit, Field(description="The commit of main to promote.")]
    promoted_from: Annotated[
        str, Field(description="The previous environment, or ci; empty: a person started this.")
    ] = ""
    mode: Annotated[
        Literal["commit", "pull-request"],
        Field(description="How to change base-repo.yaml: commit or pull-request."),
    ] = "commit"
    commit_by: CommitBy = "auto"
    allow_rollback: Annotated[
        Flag, Field(description="Allow a commit that is older than that of the environment.")
    ] = False
    pre_deployment: Annotated[
        str, Field(description="A command to run first; if it fails, the commit is not promoted.")
    ] = ""
    schedule_workflow: ScheduleWorkflow = "schedule.yaml"
    verify_only: VerifyOnly = False
    dry_run: DryRun = False
