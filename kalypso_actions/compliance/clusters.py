"""One Flux configuration, as Resource Graph reports it → the state of its cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.compliance.judged import Judged, judged_part, words
from kalypso_actions.compliance.paths import FollowedPaths, Tree
from kalypso_actions.compliance.revisions import synced_commit
from kalypso_actions.model.flux import FluxCondition, FluxConfiguration

ClusterState = Literal["compliant", "ahead", "progressing", "stale", "suspended", "failed"]
STATES: Final[tuple[ClusterState, ...]] = (
    *("compliant", "ahead", "progressing", "stale", "suspended", "failed"),
)
"""From the best to the worst."""

PROVIDER: Final = re.compile(r"/providers/Microsoft\.KubernetesConfiguration/", re.IGNORECASE)

WORKING_ON_IT: Final = frozenset({"progressing", "dependencynotready"})
"""Reasons of Flux that a sync in progress gives for not being ready."""

BEING_SET_UP: Final = frozenset({"creating", "updating"})
"""Azure is still writing the configuration to the cluster: nothing of it is final."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the clusters should run.

    `commits` are all that count as synced, from the merged commit to the branch's head; `later`
    are known to come after them.
    """

    commits: frozenset[str]
    tree: Tree
    later: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's state for one cluster type ("" where it follows the whole tree), and why."""

    id: str
    cluster_type: str
    state: ClusterState
    reason: str
    revision: str

    @property
    def name(self) -> str:
        """The last part of its resource id."""
        return self.id.rstrip("/").rpartition("/")[2]


def cluster_id(row: FluxConfiguration) -> str:
    """Return the resource id of the cluster that a configuration is for."""
    return PROVIDER.split(row.id)[0]


def clusters_of(
    row: FluxConfiguration,
    followed: FollowedPaths,
    target: Target,
    *,
    grace: timedelta,
    stale_after: timedelta | None,
    started: datetime,
    now: datetime,
) -> Iterable[Cluster]:
    """The cluster of a Flux configuration, once for each cluster type that it follows."""
    part = judged_part(row, followed)
    state, reason = _state(row, part, target, grace, stale_after, started, now)
    reason = "; ".join(filter(None, (reason, part.note)))
    commit = synced_commit(row.synced_revision)
    for cluster_type in followed.cluster_types:
        yield Cluster(cluster_id(row), cluster_type, state, reason, commit)


def _state(
    row: FluxConfiguration,
    part: Judged,
    target: Target,
    grace: timedelta,
    stale_after: timedelta | None,
    started: datetime,
    now: datetime,
) -> tuple[ClusterState, str]:
    """The first that fits."""
    commit = synced_commit(row.synced_revision)
    if row.suspended or words(part.compliance_state) == "suspended":
        return "suspended", "its reconciliation is suspended"
    if stale_after is not None and _age(row.status_updated_at, now) > stale_after:
        return "stale", f"it has not reported since {_told(row.status_updated_at)}"
    if commit in target.commits:
        return _health(row, part, grace, started, now)
    if commit in target.later:
        return "ahead", "it runs a later commit"
    return "progressing", _not_synced(row, commit)


def _health(
    row: FluxConfiguration, part: Judged, grace: timedelta, started: datetime, now: datetime
) -> tuple[ClusterState, str]:
    """How a cluster is that has synced what it should run."""
    compliance = words(part.compliance_state)
    broken = row.provisioning_state.lower() in {"failed", "canceled"}
    if compliance == "compliant" and not broken:
        return "compliant", ""
    if compliance != "noncompliant" and not broken:
        return "progressing", f"its state is {part.compliance_state or 'not known'}"
    unready = [one for each in part.objects for one in each.conditions if _is_unready(one)]
    is_busy = row.provisioning_state.lower() in BEING_SET_UP
    only_working = unready and all(one.reason.lower() in WORKING_ON_IT for one in unready)
    in_grace = now - _since(row, unready, started) <= grace
    state: ClusterState = "failed"
    if in_grace or is_busy or (only_working and not broken):
        state = "progressing"
    return state, _reason(row, part, unready)


def _age(moment: datetime | None, now: datetime) -> timedelta:
    return timedelta.max if moment is None else now - moment


def _told(moment: datetime | None) -> str:
    return "it was set up" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _not_synced(row: FluxConfiguration, commit: str) -> str:
    synced = f"it is on {commit[:7]}" if commit else "it has synced nothing yet"
    return f"{synced}: {row.error_message}" if row.error_message else synced


def _is_unready(condition: FluxCondition) -> bool:
    """While Flux works on an object, it calls it neither ready nor not ready: `Unknown`."""
    return condition.type.lower() == "ready" and condition.status.lower() in {"false", "unknown"}


def _since(row: FluxConfiguration, unready: list[FluxCondition], started: datetime) -> datetime:
    """When the failure began: a run that begins anew does not begin its grace anew.

    That Flux begins to work on another object says nothing of it.
    """
    moments = [one.last_transition for one in unready if one.status.lower() == "false"]
    known = [moment for moment in (row.source_updated_at, *moments) if moment is not None]
    return max(known, default=started)


def _reason(row: FluxConfiguration, part: Judged, unready: list[FluxCondition]) -> str:
    """The words of the cluster: first what is no mere consequence of something else."""
    told = sorted(unready, key=lambda one: one.reason.lower() in WORKING_ON_IT)
    for condition in told:
        return f"{condition.reason}: {condition.message}" if condition.message else condition.reason
    if row.error_message:
        return row.error_message
    return f"its state is {part.compliance_state}, provisioning {row.provisioning_state}"
