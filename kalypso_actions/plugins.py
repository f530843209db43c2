"""The names that a plug-in imports; their form stays from one version to the next.

    from kalypso_actions.plugins import ClusterReport, ClusterReportsInputs, CommandContext

A source of cluster reports has the methods of `ClusterReports` and the constructor
`(ClusterReportsInputs, CommandContext)`; a scheduler has those of `Scheduler`. What a command of
another package needs is in `kalypso_actions.commands.interface`.
"""

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance.interface import (
    ClusterReports,
    DeletionLookup,
    FollowerLookup,
    SourceWarnings,
)
from kalypso_actions.errors import Finding, KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.chain import ClusterReportsInputs
from kalypso_actions.model.cluster_reports import (
    BranchFollower,
    ClusterReport,
    Condition,
    ExpectedCluster,
    FollowedTree,
    ObjectReference,
    ReportedObject,
    ReportedPath,
)
from kalypso_actions.model.kinds import ClusterType, DeploymentTarget, Fleet
from kalypso_actions.model.urls import repository_key
from kalypso_actions.scheduling.interface import Schedule, Scheduler

__all__ = [
    "BranchFollower",
    "ClusterReport",
    "ClusterReports",
    "ClusterReportsInputs",
    "ClusterType",
    "CommandContext",
    "Condition",
    "DeletionLookup",
    "DeploymentTarget",
    "ExpectedCluster",
    "Finding",
    "Fleet",
    "FollowedTree",
    "FollowerLookup",
    "KalypsoError",
    "Location",
    "ObjectReference",
    "Problem",
    "ReportedObject",
    "ReportedPath",
    "Schedule",
    "Scheduler",
    "SourceWarnings",
    "UsageError",
    "repository_key",
]
