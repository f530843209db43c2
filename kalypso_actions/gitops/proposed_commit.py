"""The commit that turns the tree of a GitOps branch into a proposed tree."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kalypso_actions.gitops.own_files import record_paths, version_of
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.history import FileVersion
from kalypso_actions.model.layout import TARGET_FILES, TRACKING_FOLDER
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges
from kalypso_actions.model.tree_listing import ListedFolder, bytewise

MESSAGE: Final = "Kalypso Scheduler commit"
"""The message is upstream's."""


def commit_message(digest: str) -> str:
    """Return the message of a commit whose tree has this digest, with the digest at its end."""
    return f"{MESSAGE}\n\n{TRAILER}: {digest}\n"


def committed_files(changes: TreeChanges, folder: str) -> dict[str, FileContent | None]:
    """Return the files that the commit writes, by path; None deletes a file.

    The tree lies in `folder`. The records are always written.
    """
    records = record_paths(folder) & changes.files.keys()
    written = {path: changes.files[path] for path in (*changes.added, *changes.modified, *records)}
    return {**written, **dict.fromkeys(changes.deleted)}


TRAILER: Final = "Kalypso-Digest"
WRITTEN: Final = re.compile(rf"^{TRAILER}: (v1:[0-9a-f]{{64}})$", re.MULTILINE)


def digest(
    files: Mapping[str, FileContent],
    folder: str,
    preserved: Iterable[FileEntry] = (),
    listed: Iterable[ListedFolder] = (),
) -> str:
    """Return the digest of all our files in a proposed tree in `folder`.

    `files` are those that a run made, `preserved` those that it leaves as they are, and `listed`
    are folders that it leaves as they are, with all their files. The digest is the sha256 of a line
    `<mode> <blob id> <path>` for each file, sorted bytewise by path. The files that track the
    promotion do not count: another promoted commit does not change the content.
    """
    tracking = f"{folder}/{TRACKING_FOLDER}/" if folder else f"{TRACKING_FOLDER}/"
    versions = {entry.path: f"{entry.mode} {entry.object_id}" for entry in preserved}
    versions |= {path: f"{FILE_MODE} {blob_id(content)}" for path, content in files.items()}
    lines = {
        path: f"{version} {path}\n"
        for path, version in versions.items()
        if not path.startswith(tracking)
    }
    lines |= {f"{item.path}/": item.versions() for item in listed}
    text = "".join([lines[path] for path in bytewise(lines)])
    return f"v1:{hashlib.sha256(_bytes(text)).hexdigest()}"


def tree_digest(changes: TreeChanges, base: BaseTree) -> str:
    """Return the digest of the tree that changes of `base` give."""
    return digest(changes.files, base.path, preserved_files(changes, base), changes.listed)


def digest_of(message: str) -> str | None:
    """Return the digest in a commit message, or None."""
    digests = WRITTEN.findall(message)
    return digests[-1] if digests else None


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def tracked_commit(content: bytes | None) -> str | None:
    """Return the commit that a tracking file names; None for no file or an empty file.

    Other tools write a newline at its end.
    """
    return content.decode("utf-8", "replace").strip() or None if content else None


def preserved_files(changes: TreeChanges, base: BaseTree) -> Iterator[FileEntry]:
    """Yield our files in the folders that a proposal leaves as they are.

    Those of `listed` folders are left out.
    """
    prefix = base.prefix
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
