"""The listing that git gives of a tree."""

from __future__ import annotations

from dataclasses import replace

from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.tree_listing import TreeListing, bytewise, folders_of


def listed(base: BaseTree) -> BaseTree:
    """Return the tree with the files that it has, as git lists them."""
    lines = {
        path: f"{item.mode} blob {item.object_id}\t{path}\0" for path, item in base.entries.items()
    }
    for folder in folders_of(base.entries):
        tree_id = blob_id(folder.encode())
        lines[f"{folder}/"] = f"040000 tree {tree_id}\t{folder}\0"
    return replace(base, entries=TreeListing("".join(lines[path] for path in bytewise(lines))))
