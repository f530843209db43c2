"""The digest of what was proposed, by which a later run knows it again.

It stands as a trailer in the commit of the proposal: `Kalypso-Digest: v1:<sha256>`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id

TRAILER: Final = "Kalypso-Digest"
WRITTEN: Final = re.compile(rf"^{TRAILER}: (v1:[0-9a-f]{{64}})$", re.MULTILINE)


def digest(files: Mapping[str, bytes], folder: str, kept: Iterable[FileEntry] = ()) -> str:
    """The digest of all files of ours in a proposed tree that lives in `folder`.

    `files` are those that a run has made, `kept` those that it leaves as they are. sha256 over a
    line `<mode> <blob id> <path>` for each, sorted bytewise by path. What tracks the promotion is
    left out: the same content with another commit is the same content.
    """
    tracking = f"{folder}/{TRACKING_FOLDER}/" if folder else f"{TRACKING_FOLDER}/"
    lines = {_bytes(entry.path): (entry.mode, entry.object_id) for entry in kept}
    lines |= {_bytes(path): (FILE_MODE, blob_id(content)) for path, content in files.items()}
    sha256 = hashlib.sha256()
    for path, (mode, object_id) in sorted(lines.items()):
        if not path.startswith(tracking.encode()):
            sha256.update(b"%s %s %s\n" % (mode.encode(), object_id.encode(), path))
    return f"v1:{sha256.hexdigest()}"


def with_trailer(message: str, value: str) -> str:
    """A commit message that ends with the digest."""
    return f"{message.rstrip()}\n\n{TRAILER}: {value}\n"


def digest_of(message: str) -> str | None:
    """The digest in a commit's message; None where there is none."""
    found = WRITTEN.findall(message)
    return found[-1] if found else None


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
