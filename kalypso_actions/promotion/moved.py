"""Whether a registered folder has moved since a tree was made of it."""

from __future__ import annotations

from kalypso_actions.model.github import PathHead


def has_moved(commit: str | None, tree: str | None, now: PathHead) -> bool:
    """Whether the folder's content is another one than that of `commit`, whose tree id is `tree`.

    That the branch has moved alone says nothing: many folders may lie in one repository.
    """
    if commit == now.commit:
        return False
    return tree is None or tree != now.tree
