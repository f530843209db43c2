"""What ran where at a moment: the periods of the record, seen at one time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from kalypso_actions.errors import UsageError
from kalypso_actions.observations.periods import DesiredPeriod, RealPeriod, Replay, owners
from kalypso_actions.observations.record import Standing, Status

SHORTEST_COMMIT: Final = 7

UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO: Final = re.compile(r"(\d{1,6})\s*([smhdw])(?:\s+ago)?")


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What a cluster runs of a target at a moment.

    `target` is the name of an application's target; for the platform's folder it is the cluster
    type, or "" for the whole tree, and `workload` is "". `names` are all names of the target.
    `deployed_version` and `gitops_commit` are those of the newest desired period that the content
    belongs to; without one, the version is "" and the commit is the reported one. `desired_version`
    is "" where nothing is wanted.
    """

    environment: str
    cluster_type: str
    cluster: str
    configuration: str
    target: str
    workload: str
    names: tuple[str, ...]
    desired_version: str
    deployed_version: str
    source_commit: str
    gitops_commit: str
    relation: Standing
    status: Status
    since: datetime
    reason: str

    @property
    def cluster_name(self) -> str:
        """The last part of the cluster's id."""
        return self.cluster.rstrip("/").rpartition("/")[2]


def states(replay: Replay, at: datetime) -> Iterator[ClusterState]:
    """Yield what each cluster ran of each target at a moment, in the order of the record.

    A cluster that was gone then has no state.
    """
    desired: dict[tuple[str, str], list[DesiredPeriod]] = {}
    platform: dict[tuple[str, str], list[DesiredPeriod]] = {}
    for wanted in replay.desired():
        if wanted.line.since <= at:
            tables, name = (
                (desired, str(wanted.target))
                if wanted.line.workload
                else (platform, wanted.line.name)
            )
            tables.setdefault((wanted.environment, name), []).append(wanted)
    for real in replay.real():
        if real.line.since <= at and (real.until is None or at < real.until):
            table, name = (
                (desired, real.line.target) if real.line.target else (platform, real.cluster_type)
            )
            yield _state(real, table.get((real.environment, name), []))


def _state(real: RealPeriod, wanted: Sequence[DesiredPeriod]) -> ClusterState:
    line = real.line
    now = wanted[-1].line if wanted else None
    owner = max(owners(real, wanted), key=lambda each: each.line.number, default=None)
    relation = line.relation
    if now is not None and line.content:
        # The line has the relation to what was wanted last.
        is_current = line.content == now.content
        relation = "current" if is_current else "behind" if relation == "current" else relation
    named = {each.line.name for each in wanted} | {each.line.workload for each in wanted}
    return ClusterState(
        environment=real.environment,
        cluster_type=real.cluster_type,
        cluster=line.cluster,
        configuration=line.configuration,
        target=now.name if now else real.cluster_type,
        workload=now.workload if now else "",
        names=tuple(sorted(filter(None, named))),
        desired_version=now.version if now and now.content else "",
        deployed_version=owner.line.version if owner else "",
        source_commit=owner.line.source_commit if owner else "",
        gitops_commit=owner.line.commit if owner else line.commit,
        relation=relation,
        status=line.status,
        since=line.since,
        reason=line.reason,
    )


def where(found: Iterable[ClusterState], name: str) -> list[ClusterState]:
    """Return the states that a name is about.

    It names a workload or a target, a version, a commit of main, of the source or of a GitOps
    branch (also its first digits), a cluster, a cluster type or an environment.
    """
    wanted = name.lower()
    is_commit = len(wanted) >= SHORTEST_COMMIT and re.fullmatch("[0-9a-f]+", wanted)
    return [
        each
        for each in found
        if wanted in _names(each)
        or (
            is_commit
            and any(
                commit.startswith(wanted) for commit in (each.source_commit, each.gitops_commit)
            )
        )
    ]


def _names(state: ClusterState) -> set[str]:
    names = (
        *state.names,
        state.deployed_version,
        state.cluster,
        state.cluster_name,
        state.cluster_type,
        state.environment,
    )
    return {name.lower() for name in names if name}


def known_names(found: Iterable[ClusterState]) -> Mapping[str, None]:
    """Return the names that `where` knows, in lower case, for advice."""
    return dict.fromkeys(name for each in found for name in sorted(_names(each)))


def moment(text: str, now: datetime) -> datetime:
    """Return the time that a person means: RFC 3339, a date, a time of day, or an age.

    `YYYY-MM-DD[ HH:MM[:SS]]` and `HH:MM[:SS]` are in UTC; a time of day is the last such moment;
    `3h` or `2d ago` is that long before `now`. Raises UsageError.
    """
    text = text.strip()
    if match := _AGO.fullmatch(text):
        return now - timedelta(**{UNITS[match[2]]: int(match[1])})
    try:
        clock = time.fromisoformat(text)
    except ValueError:
        clock = None
    if clock is not None and ":" in text:
        latest = datetime.combine(now.astimezone(UTC).date(), clock.replace(tzinfo=UTC))
        return latest if latest <= now else latest - timedelta(days=1)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        advice = "write 2026-03-01T12:00:00Z, 2026-03-01 12:00, 12:00, or 3h for three hours ago"
        raise UsageError(f"{text!r} is no time", advice=advice) from None
    return given.replace(tzinfo=given.tzinfo or UTC)
