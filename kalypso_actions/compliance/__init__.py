"""Whether the clusters run what was merged, and whether it works there.

revisions    what a cluster says it has synced, in the forms of Flux old and new
paths        the paths of a Flux configuration → those of the environment's tree
judged       the part of a configuration that counts, where not all of its paths do
clusters     one Flux configuration → the state of its cluster
assessment   all clusters → compliant, failed, none targeted, or still waiting, with counts
"""

from kalypso_actions.compliance.assessment import Assessment, ForeignPaths, Requirements, assess
from kalypso_actions.compliance.clusters import Cluster, ClusterState, Target
from kalypso_actions.compliance.paths import Tree
from kalypso_actions.compliance.revisions import synced_commit

__all__ = [
    "Assessment",
    "Cluster",
    "ClusterState",
    "ForeignPaths",
    "Requirements",
    "Target",
    "Tree",
    "assess",
    "synced_commit",
]
