"""The digest of a proposed tree, by which a later run recognizes it.

The commit of the proposal has it as a trailer: `Kalypso-Digest: v1:<sha256>`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.paths import bytewise
from kalypso_actions.model.tree_listing import ListedFolder

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


def with_trailer(message: str, value: str) -> str:
    """Return the commit message with the digest at its end."""
    return f"{message.rstrip()}\n\n{TRAILER}: {value}\n"


def digest_of(message: str) -> str | None:
    """Return the digest in a commit message, or None."""
    digests = WRITTEN.findall(message)
    return digests[-1] if digests else None


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
