"""The inputs of `kalypso schedule`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kalypso_actions.inputs.chain import (
    CheckPromoteWorkflow,
    CommitBy,
    DryRun,
    EnvironmentInput,
    PlanInputs,
)
from kalypso_actions.inputs.values import Flag, List, MaskedKeys, Number, OnFailure, Percent
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.tree import MAX_REMOVAL_PERCENT


class ScheduleInputs(PlanInputs):
    """Inputs of `kalypso schedule`."""

    environment: EnvironmentInput
    on_failure: OnFailure = "block"
    max_removal_percent: Annotated[
        Percent,
        Field(description="Refuse to remove more assignments than this (and more than 5) at once."),
    ] = MAX_REMOVAL_PERCENT
    allow_removals: Annotated[Flag, Field(description="Allow such a removal.")] = False
    max_issues: Annotated[
        Number,
        Field(
            description="Issues for single failing assignments, and for single unusable "
            "registrations; one more issue of each kind lists the others."
        ),
    ] = 20
    auto_merge: Annotated[
        Literal["none", "tracking-only", "always"],
        Field(description="Pull requests to merge automatically: none, tracking-only, always."),
    ] = "none"
    force: Annotated[Flag, Field(description="Propose again what people closed or reverted.")] = (
        False
    )
    verify: Annotated[
        Flag,
        Field(
            description="Render the assignments with unchanged inputs too, and fail if one differs."
        ),
    ] = False
    branch_prefix: Annotated[
        str, Field(description="The prefix of the branches of proposals.", pattern=r"^[\w./-]+$")
    ] = OWN_BRANCHES
    labels: Annotated[List, Field(description="More labels for the pull requests.")] = ()
    mask: MaskedKeys = ()
    commit_by: CommitBy = "auto"
    check_promote_workflow: CheckPromoteWorkflow = "check-promote.yaml"
    dry_run: DryRun = False
