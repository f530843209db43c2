"""Which target folders of a GitOps tree are preserved: those whose content a run does not know.

An assignment that fails, and a registration that cannot be read, delete nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.model.layout import assignment_folder
from kalypso_actions.model.tree import BaseTree, Snapshot


@dataclass(frozen=True, slots=True)
class PreservedFolders:
    """Target folders that stay as they are, because a run does not know their content.

    `folders` are `<cluster type>/<target>`; `targets` stay in every cluster type. If a run does
    not even know the names of the targets, all folders stay except those of `all_but`.
    """

    folders: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    all_but: frozenset[str] | None = None

    def includes(self, cluster_type: str, target: str) -> bool:
        """Whether the folder of a target stays as it is."""
        unknown = self.all_but is not None and target not in self.all_but
        return (
            unknown
            or target in self.targets
            or assignment_folder(cluster_type, target) in self.folders
        )


def preserved_folders(snapshot: Snapshot, failed: Iterable[str]) -> tuple[PreservedFolders, ...]:
    """Return the folders that stay as they are, for each base tree (or for an empty one).

    `failed` are the folders of assignments that fail. Earlier runs recorded the targets of each
    registration in the branches. If no branch has a record of an unreadable registration, any
    target in a branch may belong to it, unless a readable registration delivers that target now or
    delivered it before.
    """
    readings = snapshot.registrations
    unread = {item.registration.name for item in readings if item.state == "kept"}
    read = {item.registration.name for item in readings} - unread
    delivered = frozenset(
        target.name
        for targets in (
            snapshot.fleet.targets,
            *(workload.targets for item in readings for workload in item.workloads),
        )
        for target in targets
        if target.environment == snapshot.environment
    )

    def has_unknown_targets(previous: PreviousSources) -> bool:
        return any(not previous.has_read(name) for name in unread)

    def sources_of(base: BaseTree | None) -> PreviousSources:
        previous = read_sources(base.sources, snapshot.environment) if base else None
        return previous or PreviousSources(environment=snapshot.environment)

    records = [sources_of(base) for base in snapshot.base_trees or (None,)]
    targets = frozenset(
        target
        for previous in records
        for target, owner in previous.targets.items()
        if owner in unread or (owner not in read and has_unknown_targets(previous))
    )
    return tuple(
        PreservedFolders(
            folders=frozenset(failed),
            targets=targets,
            all_but=delivered | {name for name, owner in previous.targets.items() if owner in read}
            if has_unknown_targets(previous)
            else None,
        )
        for previous in records
    )
