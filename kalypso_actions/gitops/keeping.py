"""Which folders stay as they are: nothing goes because something could not be read or failed."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.gitops.proposal import Kept
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.model.tree import BaseTree, Snapshot


class Keeper:
    """What is kept in the branches of an environment.

    Which targets an unreadable registration has, an earlier run has written down, into any of the
    branches. Where none has, every target in a branch may be its own that no readable registration
    delivers, nor delivered before.
    """

    def __init__(self, snapshot: Snapshot, failed: Iterable[str]) -> None:
        """`failed` are the folders of assignments that fail."""
        readings = snapshot.registrations
        self._environment = snapshot.environment
        self._unread = {one.registration.name for one in readings if one.state == "kept"}
        self._read = {one.registration.name for one in readings} - self._unread
        self._failed = frozenset(failed)
        self._delivered = frozenset(
            target.name
            for targets in (
                snapshot.fleet.targets,
                *(workload.targets for one in readings for workload in one.workloads),
            )
            for target in targets
            if target.environment == snapshot.environment
        )
        self.targets = frozenset(
            target
            for previous in map(self._previous, snapshot.base_trees)
            for target, owner in previous.targets.items()
            if owner in self._unread or (self._unknown(previous) and owner not in self._read)
        )

    def of(self, base: BaseTree | None) -> Kept:
        """What stays in one branch."""
        previous = self._previous(base)
        read = {target for target, owner in previous.targets.items() if owner in self._read}
        return Kept(
            folders=self._failed,
            targets=self.targets,
            all_but=self._delivered | read if self._unknown(previous) else None,
        )

    def _previous(self, base: BaseTree | None) -> PreviousSources:
        known = read_sources(base.sources, self._environment) if base else None
        return known or PreviousSources(environment=self._environment)

    def _unknown(self, previous: PreviousSources) -> bool:
        """Whether a registration that cannot be read has never been read for this branch."""
        return any(not previous.has_read(name) for name in self._unread)
