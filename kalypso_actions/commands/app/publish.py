"""Write an application's tree to a folder, or commit it to a repository on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kalypso_actions.application import recorded_paths
from kalypso_actions.clients.git import PushConflictError, RemoteRepositories, Signature
from kalypso_actions.clients.output_folder import OutputFile, OutputFolder, OutputForm
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.inputs.paths import PathAtBranch
from kalypso_actions.model.application import RECORD_FILE, ApplicationChanges
from kalypso_actions.model.documents import GIT_LINK_MODE

AUTHOR: Final = Signature("Git", "agent@gitops.com")
"""Upstream's."""


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
    given: PathAtBranch,
    changes: ApplicationChanges,
    tree: OpenPlace | None,
    remotes: RemoteRepositories,
    version: str,
    now: datetime,
) -> str:
    """Commit the changes of a tree to a branch and return the commit; "" if nothing changes.

    A new branch begins at the commit of the tree. Raises PushConflictError if the branch is at
    another commit, KalypsoError if the repository does not have the tree's.
    """
    if not (changes.added or changes.modified or changes.deleted):
        return ""
    url, parent = str(given.path), tree.files.commit if tree else None
    head = remotes.fetch_head(url, given.branch)
    if head not in {None, parent}:
        raise PushConflictError(given.branch, url, head)
    if parent and head is None:
        remotes.fetch(url, commit=parent)
    contents: dict[str, bytes | None] = dict.fromkeys(changes.deleted)
    contents |= _changed(changes)
    commit = remotes.commit(
        url,
        parent=parent,
        changes=contents,
        message=f"deployment {version}".strip(),
        author=AUTHOR,
        date=now,
    )
    remotes.push(url, commit, branch=given.branch, expected=head)
    return commit


def _changed(changes: ApplicationChanges) -> Mapping[str, bytes]:
    return {
        path: content for path, content in changes.files.items() if path not in changes.unchanged
    }
