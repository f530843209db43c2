"""One cluster's report → the state of the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from kalypso_actions.compliance.flux_revisions import synced_commit
from kalypso_actions.compliance.followed_paths import EnvironmentTree, FollowedPaths
from kalypso_actions.compliance.kustomizations import (
    applied_commit,
    is_of_earlier_revision,
    is_ready_condition,
    runs_earlier_revision,
)
from kalypso_actions.compliance.relevant_part import RelevantPart, normal_state, relevant_part
from kalypso_actions.model.cluster_reports import ClusterReport, Condition

ClusterState = Literal[
    "compliant", "ahead", "progressing", "unreachable", "stale", "suspended", "failed"
]
STATES: Final[tuple[ClusterState, ...]] = get_args(ClusterState)
"""From the best to the worst."""

IN_PROGRESS: Final = frozenset({"progressing", "dependencynotready"})
"""Flux's reasons of objects that are not ready while it syncs."""

LATEST_APPLY: Final = timedelta(minutes=20)
"""The longest time from the sync to the apply: two of Azure's timeouts, for a running health check
and for a dependency. A Kustomization becomes ready again with every later reconcile
(fluxcd/kustomize-controller#236).
"""

BEING_SET_UP: Final = frozenset({"creating", "updating"})
"""While Azure writes the configuration to the cluster, no failure is final."""


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
class Timing:
    """The moment of a judgement, and the periods, named as the inputs of check-promote.

    The waiting began at `started`.
    """

    started: datetime
    now: datetime
    grace: timedelta
    settle: timedelta
    stale_after: timedelta | None = None


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
    report: ClusterReport, followed: FollowedPaths, desired: DesiredState, timing: Timing
) -> Iterable[Cluster]:
    """Return the cluster of a report, once for each cluster type that it follows."""
    part = relevant_part(report, followed)
    state, reason = _state(report, part, desired, timing)
    reason = "; ".join(filter(None, (reason, part.note)))
    commit = synced_commit(report.revision)
    for cluster_type in followed.cluster_types:
        yield Cluster(report.cluster, cluster_type, state, reason, commit)


def _state(
    report: ClusterReport, part: RelevantPart, desired: DesiredState, timing: Timing
) -> tuple[ClusterState, str]:
    """Return the first matching state, and the reason."""
    commit = synced_commit(report.revision)
    if report.unreachable:
        return "unreachable", f"its connection is lost: {report.unreachable}"
    if report.suspended or normal_state(part.state) == "suspended":
        return "suspended", "its reconciliation is suspended"
    if timing.stale_after is not None and _age(report, timing) > timing.stale_after:
        return "stale", f"it has not reported since {_moment(report.reported_at)}"
    if commit in desired.commits:
        return _health(report, part, desired, timing)
    if commit in desired.later:
        return "ahead", "it runs a later commit"
    return "progressing", _not_synced(report, commit)


def _health(
    report: ClusterReport, part: RelevantPart, desired: DesiredState, timing: Timing
) -> tuple[ClusterState, str]:
    """Return the state of a cluster that has synced a desired commit, and the reason."""
    state = normal_state(part.state)
    broken = report.provisioning_state.lower() in {"failed", "canceled"}
    if state == "compliant" and not broken:
        unready_own = _unready_kustomization(part)
        if unready_own:
            return "progressing", f"its Kustomization {unready_own} is not ready"
        return _applied(report, part, desired, timing)
    if state != "noncompliant" and not broken:
        return "progressing", f"its state is {part.state or 'not known'}"
    unready, leftover = _unready_conditions(report, part, desired)
    if leftover and not unready and not broken:
        return "progressing", "it has not begun to apply the commit; the one before fails"
    is_being_set_up = report.provisioning_state.lower() in BEING_SET_UP
    only_in_progress = unready and all(map(_is_in_progress, unready))
    in_grace = timing.now - _failing_since(report, part, unready, timing.started) <= timing.grace
    if in_grace or is_being_set_up or (only_in_progress and not broken):
        return "progressing", _reason(report, part, unready)
    return "failed", _reason(report, part, unready)


def _unready_conditions(
    report: ClusterReport, part: RelevantPart, desired: DesiredState
) -> tuple[list[Condition], list[Condition]]:
    """Return the conditions of objects that are not ready: those that count, and those that do not.

    A failure from before the sync counts only after the Kustomization that made the object has
    begun to apply the commit.
    """
    unready: list[Condition] = []
    leftover: list[Condition] = []
    commits, synced_at = desired.commits | desired.later, report.source_updated_at
    for reported in part.objects:
        origin = part.origins.get(reported)
        has_begun = not (origin and runs_earlier_revision(origin, commits, synced_at))
        for condition in filter(_is_unready, reported.conditions):
            counts = has_begun or not is_of_earlier_revision(condition, synced_at)
            (unready if counts else leftover).append(condition)
    return unready, leftover


def _unready_kustomization(part: RelevantPart) -> str:
    """Return the name of one of the `own` Kustomizations that is not ready; "" if all are ready.

    The fields of a report may be from different moments.
    """
    for kustomization in filter(None, part.own):
        if any(map(_is_unready, kustomization.conditions)):
            return kustomization.name
    return ""


def _applied(
    report: ClusterReport, part: RelevantPart, desired: DesiredState, timing: Timing
) -> tuple[ClusterState, str]:
    """Return whether a compliant cluster has applied the synced commit, and the reason.

    Each Kustomization must name a desired commit. If a Kustomization names none, for example
    without statuses, the state must last longer than the Kustomizations take to begin with a new
    revision.
    """
    names_none = not part.own
    for kustomization in part.own:
        commit = applied_commit(kustomization) if kustomization else ""
        if kustomization and commit and commit not in desired.commits:
            if commit in desired.later:
                return "ahead", "it runs a later commit"
            return "progressing", f"its Kustomization {kustomization.name} runs {commit[:7]}"
        names_none = names_none or not commit
    if not names_none:
        return "compliant", ""
    synced_at = report.source_updated_at
    if synced_at and (report.reported_at is None or report.reported_at < synced_at):
        return "progressing", "it has not reported since it synced the commit"
    if timing.now - (synced_at or timing.started) < timing.settle:
        seconds = timing.settle.total_seconds()
        return (
            "progressing",
            f"it names no applied commit, and has complied for less than {seconds:.0f} s",
        )
    return "compliant", ""


def _age(report: ClusterReport, timing: Timing) -> timedelta:
    """Return how long ago a cluster reported."""
    return timedelta.max if report.reported_at is None else timing.now - report.reported_at


def _moment(moment: datetime | None) -> str:
    return "it was set up" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _not_synced(report: ClusterReport, commit: str) -> str:
    synced = f"it is on {commit[:7]}" if commit else "it has synced nothing yet"
    return f"{synced}: {report.message}" if report.message else synced


def _is_unready(condition: Condition) -> bool:
    """Return whether an object is not ready; `Unknown` means that Flux works on it."""
    return is_ready_condition(condition) and condition.status.lower() in {"false", "unknown"}


def _is_in_progress(condition: Condition) -> bool:
    return condition.reason.lower() in IN_PROGRESS


def _failing_since(
    report: ClusterReport, part: RelevantPart, unready: list[Condition], started: datetime
) -> datetime:
    """Return when the failure began, so that a second run does not grant the grace period anew.

    `Unknown` conditions do not count: Flux begins to work on an object whether or not it fails.
    """
    moments = [
        condition.last_transition for condition in unready if condition.status.lower() == "false"
    ]
    known = [moment for moment in (report.source_updated_at, *moments) if moment is not None]
    since = max(known, default=started)
    if since != report.source_updated_at:
        return since
    return max(since, min(_applied_at(part, since), since + LATEST_APPLY))


def _applied_at(part: RelevantPart, synced_at: datetime) -> datetime:
    """Return when the Kustomizations behind unready objects became ready, or `synced_at`.

    Without `wait`, a Kustomization is ready before the objects that its commit repairs.
    """
    origins = {
        part.origins[reported]
        for reported in part.objects
        if reported in part.origins and any(map(_is_unready, reported.conditions))
    }
    moments = [
        condition.last_transition
        for origin in origins
        for condition in origin.conditions
        if is_ready_condition(condition) and condition.status.lower() == "true"
    ]
    return max((moment for moment in moments if moment is not None), default=synced_at)


def _reason(report: ClusterReport, part: RelevantPart, unready: list[Condition]) -> str:
    """Return the cluster's message, preferably of a failed object, not of one that waits for it."""
    for condition in sorted(unready, key=_is_in_progress):
        return f"{condition.reason}: {condition.message}" if condition.message else condition.reason
    if report.message:
        return report.message
    return f"its state is {part.state}, provisioning {report.provisioning_state}"
