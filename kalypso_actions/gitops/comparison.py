"""Compare an earlier proposal with the tree of a GitOps branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kalypso_actions.gitops.own_files import record_paths, version_of
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.history import FileVersion
from kalypso_actions.model.layout import TARGET_FILES, TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges


def tracked_commit(content: bytes | None) -> str | None:
    """Return the commit that a tracking file names; None for no file or an empty file.

    Other tools write a newline at its end.
    """
    return content.decode("utf-8", "replace").strip() or None if content else None


def preserved_files(changes: TreeChanges, base: BaseTree) -> Iterator[FileEntry]:
    """Yield our files in the folders that a proposal leaves as they are.

    Those of `listed` folders are left out.
    """
    prefix = f"{base.path}/" if base.path else ""
    names, listed = sorted(TARGET_FILES), {folder.path for folder in changes.listed}
    places = [
        place
        for place in (*changes.preserved_folders, *changes.taken_over)
        if prefix + place not in listed and prefix + place.partition("/")[0] not in listed
    ]
    base = base.without(changes.listed) if places else base
    for place in places:
        for name in names:
            entry = base.entries.get(f"{prefix}{place}/{name}")
            if entry is not None:
                yield entry


def fits(
    parent: Mapping[str, FileEntry],
    head: Mapping[str, FileEntry],
    base: BaseTree,
    changes: TreeChanges,
) -> bool:
    """Whether the merge of a commit into `base` results in exactly the proposed tree.

    `parent` and `head` are the trees of the commit's parent and of the commit. The commit fits if
    it makes exactly the proposed changes, and if the branch has not changed the same files since.
    The digest in its message does not suffice: anybody can copy a message.
    """
    touched = changed_content(parent, head)
    records = record_paths(base.path)
    made, wanted = (
        {path: version for path, version in content.items() if path not in records}
        for content in (touched, wanted_content(changes))
    )
    return made == wanted and all(
        version_of(parent, path) == version_of(base.entries, path) for path in touched
    )


def changed_content(
    parent: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> dict[str, FileVersion | None]:
    """Return the files that differ from the parent's tree; None for a deleted file."""
    return {
        path: version_of(head, path)
        for path in parent.keys() | head.keys()
        if version_of(parent, path) != version_of(head, path)
    }


def wanted_content(changes: TreeChanges) -> dict[str, FileVersion | None]:
    """Return the files that a proposal changes; None for a file that it deletes."""
    written = (*changes.added, *changes.modified)
    return {
        **{path: FileVersion(FILE_MODE, blob_id(changes.files[path])) for path in written},
        **dict.fromkeys(changes.deleted),
    }


def changes_under(
    changes: TreeChanges, before: Mapping[str, FileEntry], now: Mapping[str, FileEntry]
) -> bool:
    """Whether a file that a proposal changes differs on the branch between `before` and `now`.

    If so, the proposal conflicts with the branch.
    """
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return any(version_of(before, path) != version_of(now, path) for path in touched)


def only_tracks(changes: TreeChanges, folder: str) -> bool:
    """Whether a proposal changes no file that a cluster reads."""
    tracking = f"{folder}/{TRACKING_FOLDER}/" if folder else f"{TRACKING_FOLDER}/"
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return all(path.startswith(tracking) for path in touched)
