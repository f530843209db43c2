"""The commit that turns the tree of a GitOps branch into a proposed tree."""

from __future__ import annotations

from typing import Final

from kalypso_actions.gitops.own_files import record_paths
from kalypso_actions.gitops.proposal_digest import with_trailer
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.tree import TreeChanges

MESSAGE: Final = "Kalypso Scheduler commit"
"""The message is upstream's."""


def commit_message(digest: str) -> str:
    """Return the message of a commit whose tree has this digest."""
    return with_trailer(MESSAGE, digest)


def committed_files(changes: TreeChanges, folder: str) -> dict[str, FileContent | None]:
    """Return the files that the commit writes, by path; None deletes a file.

    The tree lies in `folder`. The records are always written.
    """
    records = record_paths(folder) & changes.files.keys()
    written = {path: changes.files[path] for path in (*changes.added, *changes.modified, *records)}
    return {**written, **dict.fromkeys(changes.deleted)}
