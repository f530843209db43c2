"""Whether the clusters run what was merged, and whether it works there.

revisions    what a cluster says it has synced, in the forms of Flux old and new
clusters     one Flux configuration → the state of its cluster
assessment   all clusters → compliant, failed, none targeted, or still waiting, with counts
"""

from kalypso_actions.compliance.assessment import Assessment, Requirements, assess
from kalypso_actions.compliance.clusters import Cluster, ClusterState, Target
from kalypso_actions.compliance.revisions import synced_commit

__all__ = [
    "Assessment",
    "Cluster",
    "ClusterState",
    "Requirements",
    "Target",
    "assess",
    "synced_commit",
]
