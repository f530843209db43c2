"""What stands in a GitOps branch, held against an earlier proposal of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.history import FileVersion
from kalypso_actions.model.layout import SOURCES_FILE, TARGET_FILES, TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges


def tracked_commit(content: bytes | None) -> str | None:
    """The commit that a tracking file names; None where there is none, or an empty one.

    Other tools end it with a newline.
    """
    return content.decode("utf-8", "replace").strip() or None if content else None


def kept_files(changes: TreeChanges, base: BaseTree) -> Iterator[FileEntry]:
    """The files of ours in the folders that a proposal leaves as they are."""
    prefix = f"{base.path}/" if base.path else ""
    for place in changes.kept_folders:
        for name in sorted(TARGET_FILES):
            entry = base.entries.get(f"{prefix}{place}/{name}")
            if entry is not None:
                yield entry


def fits(
    parent: Mapping[str, FileEntry],
    head: Mapping[str, FileEntry],
    base: BaseTree,
    changes: TreeChanges,
) -> bool:
    """Whether merging a commit into `base` makes exactly the tree that is proposed.

    `parent` and `head` are the trees of the commit's parent and of itself. It fits where nothing
    that it changes has changed on the branch since, where it changes all that there is to change
    and no more, and to just what is proposed: its message alone could have been copied.
    """
    touched = changed_content(parent, head)
    sources = f"{base.path}/{SOURCES_FILE}" if base.path else SOURCES_FILE
    made = {path: version for path, version in touched.items() if path != sources}
    return made == wanted_content(changes) and all(
        _content(parent, path) == _content(base.entries, path) for path in touched
    )


def changed_content(
    parent: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> dict[str, FileVersion | None]:
    """The files that a tree has in another version than that of its parent; None: it has none."""
    return {
        path: _content(head, path)
        for path in parent.keys() | head.keys()
        if _content(parent, path) != _content(head, path)
    }


def wanted_content(changes: TreeChanges) -> dict[str, FileVersion | None]:
    """The files that a proposal changes, in the version that it wants; None: it deletes it."""
    written = (*changes.added, *changes.modified)
    return {
        **{path: FileVersion(FILE_MODE, blob_id(changes.files[path])) for path in written},
        **dict.fromkeys(changes.deleted),
    }


def changes_under(
    changes: TreeChanges, before: Mapping[str, FileEntry], now: Mapping[str, FileEntry]
) -> bool:
    """Whether a file that a proposal changes has changed from `before` to `now` on its own.

    Then the proposal conflicts with the branch that it was made for.
    """
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return any(_content(before, path) != _content(now, path) for path in touched)


def only_tracks(changes: TreeChanges, folder: str) -> bool:
    """Whether a proposal changes nothing that a cluster reads."""
    tracking = f"{folder}/{TRACKING_FOLDER}/" if folder else f"{TRACKING_FOLDER}/"
    touched = (*changes.added, *changes.modified, *changes.deleted)
    return all(path.startswith(tracking) for path in touched)


def _content(entries: Mapping[str, FileEntry], path: str) -> FileVersion | None:
    entry = entries.get(path)
    return FileVersion(entry.mode, entry.object_id) if entry else None
