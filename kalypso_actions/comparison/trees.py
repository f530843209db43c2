"""The files that differ between a tree and a proposed one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kalypso_actions.model.differences import Change, FileChange
from kalypso_actions.model.paths import bytewise
from kalypso_actions.model.tree import TreeChanges


def tree_changes(
    changes: TreeChanges, before: Mapping[str, bytes], repositories: Collection[str] = ()
) -> tuple[FileChange, ...]:
    """Return the files that a run changes, sorted; `before` has the old contents."""
    kinds: dict[str, Change] = {
        **dict.fromkeys(changes.added, "added"),
        **dict.fromkeys(changes.modified, "modified"),
        **dict.fromkeys(changes.deleted, "deleted"),
    }
    ordered = bytewise(kinds)
    return tuple(
        FileChange(
            path,
            kinds[path],
            before.get(path),
            None if kinds[path] == "deleted" else changes.content(path),
            frozenset(repositories),
        )
        for path in ordered
    )
