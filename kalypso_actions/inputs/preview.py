"""The inputs of preview and of the job that comments for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import EMPTY, ChainInputs, DryRun, PlanInputs
from kalypso_actions.inputs.values import Flag, List, MaskedKeys, Secret


class PreviewInputs(PlanInputs):
    """Inputs of `kalypso preview`."""

    base: Annotated[
        str,
        Field(
            description="The commit, branch or tag to compare with; default: the base of the pull "
            "request or merge group, or where the current branch began."
        ),
    ] = ""
    head: Annotated[
        str,
        Field(
            description="The commit, branch or tag with the change; default: the job's commit, "
            "which is the merge, or HEAD."
        ),
    ] = ""
    environments: Annotated[List, Field(description="The environments; default: all.")] = ()
    mask: MaskedKeys = ()
    comment: Annotated[Flag, Field(description="Comment on the pull request.")] = True
    status_context: Annotated[str, Field(description="The context of the commit status.")] = (
        "kalypso / preview"
    )
    out: Annotated[
        Path | None,
        Field(description="A folder for the complete preview: preview.json and preview.diff."),
    ] = None
    job_token: Annotated[
        Secret,
        Field(
            description="The job's own token: the only one to read repositories that the change "
            "registers and its base does not."
        ),
    ] = EMPTY
    dry_run: DryRun = False


class PreviewCommentInputs(ChainInputs):
    """Inputs of `kalypso preview-comment`."""

    file: Annotated[
        Path, Field(description="The preview.json of the run that started this workflow.")
    ]
    dry_run: DryRun = False
