"""The trees that schedule has written: a status on the commit of the environment's branch.

    context                     on                             description
    kalypso / tree <environment>  the environment branch's head  Written: <tree id> …, newest first

`sources.json` names that commit. A later run copies folders from a tree with a recorded id. Write
access to the GitOps repository alone does not suffice to post the status with our account.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.start_records import PREFIX

MOST: Final = 5
"""The most ids in a description: those of the merged trees, and of newer proposals."""

WRITTEN: Final = "Written: "


def tree_context(environment: str) -> str:
    """Return the context of the status."""
    return f"{PREFIX}tree {environment}"


def read_trees(status: CommitStatus | None) -> tuple[str, ...]:
    """Return the ids of the trees that a status records, newest first."""
    if status is None or not status.description.startswith(WRITTEN):
        return ()
    return tuple(status.description.removeprefix(WRITTEN).split())


def trees_status(environment: str, written: Iterable[str], before: Iterable[str]) -> CommitStatus:
    """Return the status that adds the trees of a run to those `before`."""
    ids = list(dict.fromkeys((*written, *before)))[:MOST]
    return CommitStatus(tree_context(environment), "success", WRITTEN + " ".join(ids), "")
