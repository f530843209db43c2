"""Write an application's tree to a folder, or commit it to a repository on this machine."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import Signature
from kalypso_actions.clients.output_folder import OutputFile, OutputFolder, OutputForm
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.model.application import RECORD_FILE, ApplicationChanges
from kalypso_actions.model.documents import GIT_LINK_MODE
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.planning.application import recorded_paths

AUTHOR: Final = Signature("Git", "agent@gitops.com")
"""The author that upstream uses."""


def _is_output(folder: Path, path: str) -> bool:
    record = folder / RECORD_FILE
    return record.is_file() and path in recorded_paths(record.read_bytes())


APPLICATION_TREE: Final = OutputForm(RECORD_FILE, "kalypso.app-sources/", _is_output)


def output_folder(folder: Path | None) -> OutputFolder | None:
    """Return the folder of `--out`, if it may be written. Raises UsageError."""
    if folder is None:
        return None
    out = OutputFolder(folder, APPLICATION_TREE)
    out.check()
    return out


def resulting_tree(changes: ApplicationChanges, tree: OpenPlace | None) -> dict[str, OutputFile]:
    """Return all files of the tree after the run."""
    result = {path: OutputFile(content) for path, content in changes.files.items()}
    if tree is None:
        return result
    entries = tree.files.entries()
    replaced = result.keys() | set(changes.deleted)
    kept = [
        path
        for path, entry in entries.items()
        if path not in replaced and entry.mode != GIT_LINK_MODE
    ]
    contents = tree.files.read(kept)
    return result | {path: OutputFile(contents[path], entries[path].mode) for path in kept}


def commit_tree(
    branch: LocalBranch,
    changes: ApplicationChanges,
    tree: OpenPlace | None,
    version: str,
    now: datetime,
) -> str:
    """Commit the changes of a tree to a branch and return the commit; "" if nothing changes.

    A new branch begins at the commit of the tree. Raises KalypsoError if the branch has moved or
    is checked out, or if the repository does not have the tree's commit.
    """
    if not (changes.added or changes.modified or changes.deleted):
        return ""
    files: dict[str, FileContent | None] = dict.fromkeys(changes.deleted)
    files |= {
        path: content for path, content in changes.files.items() if path not in changes.unchanged
    }
    parent = (tree.files.commit if tree else None) or ""
    return branch.commit(files, f"deployment {version}".strip(), now, AUTHOR, parent)
