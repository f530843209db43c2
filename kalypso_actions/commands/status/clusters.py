"""The clusters of an environment's GitOps branches: their states, and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kalypso_actions import fleet
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.status.read import EnvironmentBranches, Pipeline
from kalypso_actions.compliance import (
    ClusterReports,
    DesiredState,
    EnvironmentTree,
    Requirements,
    Verdict,
    judge_clusters,
)
from kalypso_actions.compliance.clusters import STATES
from kalypso_actions.gitops.own_files import assigned_cluster_types, cluster_type_folders
from kalypso_actions.report.status_document import ClusterStateEntry

_WORST: Final = (*STATES, "missing")
"""From the best state to the worst."""


@dataclass(frozen=True, slots=True)
class ClusterStates:
    """The number of clusters in each state, and those that do not comply, the worst first."""

    numbers: dict[str, int]
    not_compliant: tuple[ClusterStateEntry, ...]


def cluster_states(
    context: CommandContext, pipeline: Pipeline, item: EnvironmentBranches, reports: ClusterReports
) -> ClusterStates:
    """Return the states of an environment's clusters, judged by the head of each GitOps branch.

    Cluster types with assignments and without a cluster count as `missing`. Raises KalypsoError if
    the reports cannot be read.
    """
    entries: list[ClusterStateEntry] = []
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
        verdict = judge_clusters(
            of_branch, desired, Requirements(), started=head.committed_at, now=now
        )
        entries += _entries(verdict)
    numbers = Counter(entry.state for entry in entries)
    others = [entry for entry in entries if entry.state != "compliant"]
    return ClusterStates(
        dict(sorted(numbers.items())),
        tuple(sorted(others, key=lambda entry: (-_WORST.index(entry.state), entry.id))),
    )


def _entries(verdict: Verdict) -> Iterator[ClusterStateEntry]:
    for cluster in verdict.clusters:
        yield ClusterStateEntry(
            id=cluster.id,
            name=cluster.name,
            cluster_type=cluster.cluster_type,
            state=cluster.state,
            reason=cluster.reason,
        )
    for name in verdict.missing:
        reason = "no cluster reports that it follows the folder"
        yield ClusterStateEntry(cluster_type=name, state="missing", reason=reason)
