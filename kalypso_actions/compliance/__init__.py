"""Whether the clusters run a merged commit, and whether it works there.

interface         a source of cluster reports
flux_revisions    the revision in a report → a commit
followed_paths    the paths in a report → those of the environment's tree
kustomizations    the Kustomizations of a report, and the commits that they have applied
relevant_part     the part of a report that counts, if not all of its paths do
clusters          one report → the state of its cluster
assessment        all clusters of a GitOps branch → a verdict, or still waiting
deleted_clusters  clusters that may no longer exist
other_urls        clusters that follow the tree by another URL
"""

from kalypso_actions.compliance.assessment import (
    Assessment,
    ForeignPaths,
    Requirements,
    assess,
)
from kalypso_actions.compliance.clusters import Cluster, ClusterState, DesiredState
from kalypso_actions.compliance.flux_revisions import synced_commit
from kalypso_actions.compliance.followed_paths import EnvironmentTree
from kalypso_actions.compliance.interface import (
    LOOKUP_INTERVAL,
    ClusterReports,
    DeletionLookup,
    FollowerLookup,
)

__all__ = [
    "LOOKUP_INTERVAL",
    "Assessment",
    "Cluster",
    "ClusterReports",
    "ClusterState",
    "DeletionLookup",
    "DesiredState",
    "EnvironmentTree",
    "FollowerLookup",
    "ForeignPaths",
    "Requirements",
    "assess",
    "synced_commit",
]
