"""The removal of many assignments at once, which a run refuses unless a person allows it.

The default of `max-removal-percent` is `model.tree.MAX_REMOVAL_PERCENT`.
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.tree import TreeChanges

SMALL_REMOVAL: Final = 5
"""The removal of at most this many targets is never a mass removal."""


def mass_removal(changes: TreeChanges, percent: int) -> str:
    """Return the message for the removal of more than `percent` of the assignments, or ""."""
    removed = len(changes.removed_folders)
    if removed <= SMALL_REMOVAL or removed * 100 <= changes.existing_folders * percent:
        return ""
    return (
        f"{removed} of {changes.existing_folders} assignments would be removed, which is more "
        f"than {percent}%: {abbreviated(changes.removed_folders, 10)}"
    )


def is_blocked(removal: Problem | None, *, writes: bool, allow_removals: bool) -> bool:
    """Whether a mass removal stops a run.

    A run that writes nothing needs no permission: the removal is already proposed.
    """
    return removal is not None and writes and not allow_removals
