"""The digest of what was proposed, by which a later run knows it again.

It stands as a trailer in the commit of the proposal: `Kalypso-Digest: v1:<sha256>`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id

TRAILER: Final = "Kalypso-Digest"
WRITTEN: Final = re.compile(rf"^{TRAILER}: (v1:[0-9a-f]{{64}})$", re.MULTILINE)


def digest(files: Mapping[str, bytes], folder: str) -> str:
    """The digest of all files of ours in a proposed tree that lives in `folder`.

    sha256 over a line `<mode> <blob id> <path>` for each, sorted bytewise by path. What tracks the
    promotion is left out: the same content with another commit is the same content.
    """
    tracking = f"{folder}/{TRACKING_FOLDER}/" if folder else f"{TRACKING_FOLDER}/"
    sha256 = hashlib.sha256()
    for path, content in sorted((_bytes(path), content) for path, content in files.items()):
        if not path.startswith(tracking.encode()):
            sha256.update(b"%s %s %s\n" % (FILE_MODE.encode(), blob_id(content).encode(), path))
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
