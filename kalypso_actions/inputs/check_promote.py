"""The inputs of `kalypso check-promote`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from kalypso_actions.inputs.chain import (
    CdWorkflow,
    ClusterReportsInputs,
    DryRun,
    EnvironmentInput,
    VerifyOnly,
)
from kalypso_actions.inputs.values import (
    Commit,
    CommitId,
    Duration,
    DurationOrOff,
    Flag,
    List,
    Percent,
    RepositoryName,
)


class CheckPromoteInputs(ClusterReportsInputs):
    """Inputs of `kalypso check-promote`."""

    environment: EnvironmentInput
    promoted_commit: Annotated[
        CommitId, Field(description="The promoted commit; empty for a configuration change.")
    ] = None
    gitops_commit: Annotated[Commit, Field(description="The merged commit of the GitOps branch.")]
    gitops_repository: Annotated[
        RepositoryName,
        Field(description="The GitOps repository, as owner/name; default: the only one."),
    ] = ""
    next_environment: Annotated[
        List, Field(description="The next environments; default: as annotated on the Environment.")
    ] = ()
    timeout: Annotated[Duration, Field(description="How long to wait for the clusters.")] = (
        timedelta(minutes=60)
    )
    poll_interval: Annotated[
        Duration, Field(description="The time between two checks of the clusters.")
    ] = timedelta(seconds=15)
    grace_period: Annotated[
        Duration,
        Field(description="How long a cluster must fail or be absent before it counts as failed."),
    ] = timedelta(minutes=2)
    settle: Annotated[
        Duration,
        Field(
            description="How long a cluster must comply if it does not report its applied commit."
        ),
    ] = timedelta(minutes=1)
    stale_after: Annotated[
        DurationOrOff,
        Field(
            description="Clusters that do not report for this long are stale; off: no cluster is."
        ),
    ] = None
    min_compliant: Annotated[
        Percent,
        Field(description="Share of clusters that must comply, in total and in each cluster type."),
    ] = 100
    missing: Annotated[
        Literal["fail", "warn"],
        Field(description="For a cluster type without a cluster: fail or warn."),
    ] = "fail"
    unreachable: Annotated[
        Literal["fail", "ignore"],
        Field(description="For clusters whose connection is lost: fail (wait for them) or ignore."),
    ] = "fail"
    require_targets: Annotated[
        Flag, Field(description="Fail if no cluster follows the branch.")
    ] = True
    ignore_clusters: Annotated[
        List, Field(description="Globs of resource ids of clusters to ignore.")
    ] = ()
    post_deployment: Annotated[
        str, Field(description="A command to run last; if it fails, the commit does not go on.")
    ] = ""
    cd_workflow: CdWorkflow = "cd.yaml"
    started_at: Annotated[
        str,
        Field(
            description="The time at which an earlier run began to wait, but not before the merge."
        ),
    ] = ""
    verify_only: VerifyOnly = False
    dry_run: DryRun = False
