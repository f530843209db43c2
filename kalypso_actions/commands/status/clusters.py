"""The clusters of an environment's GitOps branches, by state."""

from __future__ import annotations

from collections import Counter

from kalypso_actions import fleet
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.status.read import EnvironmentBranches, Pipeline
from kalypso_actions.compliance import (
    ClusterReports,
    DesiredState,
    EnvironmentTree,
    Requirements,
    assess,
)
from kalypso_actions.gitops.own_files import assigned_cluster_types, cluster_type_folders


def count_clusters(
    context: CommandContext, pipeline: Pipeline, item: EnvironmentBranches, reports: ClusterReports
) -> dict[str, int]:
    """Return the number of clusters in each state, judged by the head of each GitOps branch.

    Cluster types with assignments and without a cluster count as `missing`. Raises KalypsoError if
    the reports cannot be read.
    """
    counts: Counter[str] = Counter()
    now = context.runtime.now()
    name = item.environment.name
    documents = item.reading.own.documents if item.reading else ()
    assembled, _ = fleet.assemble(name, fleet.Branch(name, documents), ())
    silent = (each.name for each in assembled.cluster_types if not each.reports_compliance)
    known = [each.name for each in assembled.cluster_types]
    not_reporting = frozenset(silent)
    for place in item.gitops:
        tree = pipeline.trees.get(place)
        head = pipeline.gitops[place.repository].heads.get(place.branch)
        if tree is None or head is None:
            continue
        desired = DesiredState(
            frozenset({head.id}),
            EnvironmentTree(
                tree.path,
                cluster_type_folders(tree.entries, tree.path, known),
                assigned_cluster_types(tree.entries, tree.path, known),
                not_reporting,
            ),
        )
        of_branch = reports.reports(place.url, place.branch)
        assessment = assess(of_branch, desired, Requirements(), started=head.committed_at, now=now)
        counts.update(cluster.state for cluster in assessment.clusters)
        if assessment.missing:
            counts["missing"] += len(assessment.missing)
    return dict(sorted(counts.items()))
