"""How a Flux configuration stands at a moment: a pure function of its branch's history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_actions.sandbox.azure.clusters import Configuration
from kalypso_actions.sandbox.azure.history import Head

Phase = Literal["waiting", "applying", "depending", "ready", "failing"]
"""Nothing synced yet; being applied; kustomizations waiting for others; done; broken."""

STOPPED: Final = frozenset({"stall", "suspended", "disconnected"})


@dataclass(frozen=True, slots=True)
class SyncState:
    """What a configuration has synced ("" for nothing), what became of it, and since when.

    `reported_at` is the cluster's last word to Azure.
    """

    commit: str
    phase: Phase
    synced_at: datetime | None
    changed_at: datetime | None
    reported_at: datetime | None


def sync_state(
    configuration: Configuration,
    heads: Sequence[Head],
    is_broken: Callable[[str], bool],
    now: datetime,
) -> SyncState:
    """The state at a moment. `heads` are those of its branch, oldest first."""
    if configuration.behaviour not in STOPPED:
        return _reported(_following(configuration, heads, is_broken, now), configuration, now)
    since = configuration.since
    nothing = SyncState("", "waiting", None, None, None)
    before = configuration.model_copy(update={"behaviour": "follow", "since": None})
    still = nothing if since is None else _following(before, heads, is_broken, min(now, since))
    if configuration.behaviour != "disconnected":
        return _reported(still, configuration, now)
    return still if since is None else _reported(still, configuration, min(now, since))


def _following(
    configuration: Configuration,
    heads: Sequence[Head],
    is_broken: Callable[[str], bool],
    now: datetime,
) -> SyncState:
    """The newest commit whose time has come, and how far it got."""
    if configuration.source_kind != "GitRepository":
        return SyncState("", "ready", configuration.since, configuration.since, None)
    synced = [(commit, at) for commit, at in _syncs(configuration, heads) if at <= now]
    if not synced:
        return SyncState("", "waiting", None, None, None)
    commit, synced_at = synced[-1]
    broken = configuration.behaviour == "fail" and is_broken(commit)
    phase, changed_at = _phase(configuration, synced_at, now, broken=broken)
    return SyncState(commit, phase, synced_at, changed_at, None)


def _syncs(configuration: Configuration, heads: Sequence[Head]) -> list[tuple[str, datetime]]:
    """Every commit with the time of its sync; none is earlier than the behaviour."""
    since = configuration.since
    ahead = configuration.behaviour == "ahead"
    if ahead and configuration.commit:
        begun = [since] if since else [head.pushed_at for head in heads[:1]]
        return [(configuration.commit, moment) for moment in begun]
    delay = timedelta(seconds=0 if ahead else configuration.delay)
    return [(head.commit, max(head.pushed_at + delay, since or head.pushed_at)) for head in heads]


def _phase(
    configuration: Configuration, synced_at: datetime, now: datetime, *, broken: bool
) -> tuple[Phase, datetime]:
    """How far a sync got, and since when: half of the settling is applying, half is waiting."""
    settle = timedelta(seconds=configuration.settle)
    settled_at = synced_at + settle
    if now < synced_at + settle / 2:
        return "applying", synced_at
    if now < settled_at:
        return "depending", synced_at + settle / 2
    if configuration.behaviour == "flap":
        period = timedelta(seconds=configuration.period)
        turns = (now - settled_at) // period
        return ("failing" if turns % 2 else "ready"), settled_at + turns * period
    return ("failing" if broken else "ready"), settled_at


def _reported(sync_state: SyncState, configuration: Configuration, now: datetime) -> SyncState:
    """With the last report until then: at the last change, and regularly."""
    beat = now.timestamp() // configuration.reports_every * configuration.reports_every
    moments = [
        datetime.fromtimestamp(beat, now.tzinfo),
        sync_state.synced_at,
        sync_state.changed_at,
    ]
    return replace(sync_state, reported_at=max(moment for moment in moments if moment))
