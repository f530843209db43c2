"""Find mass removals: a run that removes too many assignments of a tree at once is probably wrong.

`schedule` proposes one only with `allow-removals`, and `preview` shows it. For the targets of an
application's tree, `planning/application/tree.py` has a rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Finding, Location
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.tree import BaseTree, TreeChanges

MASS_REMOVAL: Final = "mass-removal"

SMALL_REMOVAL: Final = 5
"""The removal of at most this many targets is never a mass removal."""


def with_mass_removals(
    trees: Sequence[TreeChanges],
    bases: Sequence[BaseTree],
    findings: Iterable[Finding],
    percent: int,
) -> list[TreeChanges]:
    """Return the changes with a warning for each removal of more than `percent` of a tree.

    There are none beside a fault: the missing assignments may be unread.
    """
    result = list(trees)
    if any(finding.is_fault for finding in findings):
        return result
    for index, (changes, base) in enumerate(zip(trees, bases, strict=False)):
        message = mass_removal(changes, percent)
        if message:
            where = Location(base.repository, base.path)
            removal = Finding(message, where, code=MASS_REMOVAL, level="warning", scope="run")
            result[index] = replace(changes, mass_removal=removal)
    return result


def mass_removal(changes: TreeChanges, percent: int) -> str:
    """Return the message for the removal of more than `percent` of the assignments, or ""."""
    removed = len(changes.removed_folders)
    if removed <= SMALL_REMOVAL or removed * 100 <= changes.existing_folders * percent:
        return ""
    return (
        f"{removed} of {changes.existing_folders} assignments would be removed, which is more "
        f"than {percent}%: {abbreviated(changes.removed_folders, 10)}"
    )
