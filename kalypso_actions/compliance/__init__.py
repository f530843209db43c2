"""Whether the clusters run a merged commit, and whether it works there.

desired = DesiredState(commits, EnvironmentTree("", cluster_types, assigned))
verdict = judge_clusters(reports, desired, Requirements(), started=started, now=now)
judge([verdict], timed_out=False).goes_on
"""

from kalypso_actions.compliance.cluster_states import (
    Cluster,
    DesiredState,
    EnvironmentTree,
    Requirements,
)
from kalypso_actions.compliance.interface import ClusterReports
from kalypso_actions.compliance.verdicts import Verdict, judge, judge_clusters

__all__ = [
    "Cluster",
    "ClusterReports",
    "DesiredState",
    "EnvironmentTree",
    "Requirements",
    "Verdict",
    "judge",
    "judge_clusters",
]
