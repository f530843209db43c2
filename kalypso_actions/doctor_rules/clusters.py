"""Clusters that follow a GitOps branch, and listed ones that do not report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kalypso_actions.doctor_rules.check import Check, ok, warning
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree, cluster_type_of
from kalypso_actions.model.counts import abbreviated, counted

MOST_NAMED: Final = 10


def cluster_checks(
    source: str,
    branch: str,
    followed: FollowedTree,
    reports: Sequence[ClusterReport],
    no_reports_advice: str,
) -> Iterator[Check]:
    """Check that clusters report on a branch, and that every listed one does."""
    text = f"{branch} is followed by {counted(len(reports), 'configuration')} of clusters"
    if not reports:
        yield warning(source, text, no_reports_advice)
        return
    yield ok(source, text)
    heard: dict[str, list[ClusterReport]] = {}
    for report in reports:
        for name in {report.cluster.lower(), report.cluster.lower().rpartition("/")[2]}:
            heard.setdefault(name, []).append(report)
    silent = [
        f"{expected.name} ({expected.cluster_type})"
        for expected in followed.expected
        if not any(
            _follows(report, followed, expected.cluster_type)
            for report in heard.get(expected.name.lower(), ())
        )
    ]
    if silent:
        yield warning(
            source,
            f"{branch}: {counted(len(silent), 'cluster')} in kalypso.io/clusters did not report: "
            f"{abbreviated(silent, MOST_NAMED)}",
            f"check-promote waits for each: correct the names, or {no_reports_advice}",
        )


def _follows(report: ClusterReport, followed: FollowedTree, cluster_type: str) -> bool:
    """Whether a report is about the folder of a cluster type, a part of it, or a folder above."""
    paths = [each.path for each in report.paths] or [""]
    return any(cluster_type_of(path, followed.folder, {cluster_type}) is not None for path in paths)
