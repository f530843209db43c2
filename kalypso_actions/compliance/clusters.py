"""One cluster's report → the state of the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.compliance.paths import EnvironmentTree, FollowedPaths
from kalypso_actions.compliance.relevant_part import RelevantPart, normal_state, relevant_part
from kalypso_actions.compliance.revisions import synced_commit
from kalypso_actions.model.cluster_reports import ClusterReport, Condition

ClusterState = Literal["compliant", "ahead", "progressing", "stale", "suspended", "failed"]
STATES: Final[tuple[ClusterState, ...]] = (
    *("compliant", "ahead", "progressing", "stale", "suspended", "failed"),
)
"""From the best to the worst."""

IN_PROGRESS: Final = frozenset({"progressing", "dependencynotready"})
"""Flux's reasons of objects that are not ready while it syncs."""

BEING_SET_UP: Final = frozenset({"creating", "updating"})
"""While the configuration is written to the cluster, no failure is final."""


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The state that the clusters should reach.

    `commits` are those that count as synced, from the merged commit to the branch's head; `later`
    ones come after them.
    """

    commits: frozenset[str]
    tree: EnvironmentTree
    later: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's state for one cluster type ("" if it follows the whole tree), and the reason."""

    id: str
    cluster_type: str
    state: ClusterState
    reason: str
    revision: str

    @property
    def name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.id)


def cluster_name(cluster: str) -> str:
    """Return the last part of a cluster's id."""
    return cluster.rstrip("/").rpartition("/")[2]


def clusters_of(
    report: ClusterReport,
    followed: FollowedPaths,
    desired: DesiredState,
    *,
    grace: timedelta,
    stale_after: timedelta | None,
    started: datetime,
    now: datetime,
) -> Iterable[Cluster]:
    """Return the cluster of a report, once for each cluster type that it follows."""
    part = relevant_part(report, followed)
    state, reason = _state(report, part, desired, grace, stale_after, started, now)
    reason = "; ".join(filter(None, (reason, part.note)))
    commit = synced_commit(report.revision)
    for cluster_type in followed.cluster_types:
        yield Cluster(report.cluster, cluster_type, state, reason, commit)


def _state(
    report: ClusterReport,
    part: RelevantPart,
    desired: DesiredState,
    grace: timedelta,
    stale_after: timedelta | None,
    started: datetime,
    now: datetime,
) -> tuple[ClusterState, str]:
    """Return the first state that fits, and the reason."""
    commit = synced_commit(report.revision)
    if report.suspended or normal_state(part.state) == "suspended":
        return "suspended", "its reconciliation is suspended"
    if stale_after is not None and _age(report.reported_at, now) > stale_after:
        return "stale", f"it has not reported since {_moment(report.reported_at)}"
    if commit in desired.commits:
        return _health(report, part, grace, started, now)
    if commit in desired.later:
        return "ahead", "it runs a later commit"
    return "progressing", _not_synced(report, commit)


def _health(
    report: ClusterReport, part: RelevantPart, grace: timedelta, started: datetime, now: datetime
) -> tuple[ClusterState, str]:
    """Return the state of a cluster that has synced a desired commit, and the reason."""
    state = normal_state(part.state)
    broken = report.provisioning_state.lower() in {"failed", "canceled"}
    if state == "compliant" and not broken:
        return "compliant", ""
    if state != "noncompliant" and not broken:
        return "progressing", f"its state is {part.state or 'not known'}"
    unready = [
        condition
        for reported in part.objects
        for condition in reported.conditions
        if _is_unready(condition)
    ]
    is_being_set_up = report.provisioning_state.lower() in BEING_SET_UP
    only_in_progress = unready and all(map(_is_in_progress, unready))
    in_grace = now - _failing_since(report, unready, started) <= grace
    if in_grace or is_being_set_up or (only_in_progress and not broken):
        return "progressing", _reason(report, part, unready)
    return "failed", _reason(report, part, unready)


def _age(moment: datetime | None, now: datetime) -> timedelta:
    return timedelta.max if moment is None else now - moment


def _moment(moment: datetime | None) -> str:
    return "it was set up" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _not_synced(report: ClusterReport, commit: str) -> str:
    synced = f"it is on {commit[:7]}" if commit else "it has synced nothing yet"
    return f"{synced}: {report.message}" if report.message else synced


def _is_unready(condition: Condition) -> bool:
    """Return whether an object is not ready; `Unknown` means that Flux works on it."""
    return condition.type.lower() == "ready" and condition.status.lower() in {"false", "unknown"}


def _is_in_progress(condition: Condition) -> bool:
    return condition.reason.lower() in IN_PROGRESS


def _failing_since(report: ClusterReport, unready: list[Condition], started: datetime) -> datetime:
    """Return when the failure began, so that a second run does not grant the grace period anew.

    `Unknown` conditions do not count: Flux begins to work on an object whether or not it fails.
    """
    moments = [one.last_transition for one in unready if one.status.lower() == "false"]
    known = [moment for moment in (report.source_updated_at, *moments) if moment is not None]
    return max(known, default=started)


def _reason(report: ClusterReport, part: RelevantPart, unready: list[Condition]) -> str:
    """Return the cluster's own words: of a failure rather than of what waits for it."""
    for condition in sorted(unready, key=_is_in_progress):
        return f"{condition.reason}: {condition.message}" if condition.message else condition.reason
    if report.message:
        return report.message
    return f"its state is {part.state}, provisioning {report.provisioning_state}"
