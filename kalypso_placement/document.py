"""The document `kalypso.placement/v1` of a reconciliation, with OCM's names for its fields."""

from __future__ import annotations

from typing import Any

from kalypso_placement.instants import format_instant
from kalypso_placement.reconciliation import Reconciliation, Scheduled
from kalypso_placement.statuses import Status


def answer(result: Reconciliation) -> dict[str, Any]:
    """Return the fields of the document, without those that OCM does not reach."""
    body: dict[str, Any] = {
        "boundClusterSets": list(result.bound_sets),
        "eligibleClusterSets": list(result.eligible_sets),
        "status": _status(result),
        "syncError": result.sync_error,
    }
    if result.set_error is not None:
        return body
    body |= {"availableClusters": list(result.available)} | _scheduled(result.scheduled)
    body["decisionGroups"] = [
        {
            "decisionGroupIndex": group.index,
            "decisionGroupName": group.name,
            "decisions": [decision.name for decision in group.decisions],
            "clusterCount": len(group.clusters),
            "clusters": list(group.clusters),
        }
        for group in result.groups
    ]
    body["placementDecisions"] = [
        {"name": decision.name, "labels": decision.labels, "clusters": list(decision.clusters)}
        for group in result.groups
        for decision in group.decisions
    ]
    if result.group_status.failed:
        body["decisionGroupsStatus"] = _of_status(result.group_status)
    return body


def _scheduled(scheduled: Scheduled) -> dict[str, Any]:
    requeue = scheduled.requeue
    return {
        "filteredPipelineResults": [
            {"name": name, "filteredClusters": list(clusters)}
            for name, clusters in scheduled.filtered
        ],
        "prioritizeResults": [
            {"name": item.name, "weight": item.weight, "scores": dict(item.scores)}
            for item in scheduled.prioritized
        ],
        "aggregatedScores": [
            {"clusterName": name, "score": total} for name, total in scheduled.totals
        ],
        "decisions": [cluster.name for cluster in scheduled.decisions],
        "numberOfUnscheduled": scheduled.unscheduled,
        "scheduleStatus": _of_status(scheduled.status),
        "requeueTime": None if requeue is None else format_instant(requeue),
    }


def _of_status(status: Status) -> dict[str, str]:
    return {"code": status.code, "plugin": status.plugin, "message": status.message}


def _status(result: Reconciliation) -> dict[str, Any] | None:
    if result.conditions is None:
        return None
    return {
        "numberOfSelectedClusters": len(result.scheduled.decisions),
        "conditions": {
            name: {
                "status": str(condition.status),
                "reason": condition.reason,
                "message": condition.message,
            }
            for name, condition in result.conditions.items()
        },
    }
