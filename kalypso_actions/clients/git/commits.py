"""Make commits without a checkout: the input of `git fast-import`.

https://git-scm.com/docs/git-fast-import
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kalypso_actions.clients.git.files import is_unsafe
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import FILE_MODE

NOT_IN_SIGNATURE: Final = re.compile(r"[<>\x00-\x1f]")

REF: Final = "refs/kalypso/new"
"""fast-import needs a ref for the new commit; this one is never pushed."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The author of a commit. Raises KalypsoError for text that git does not accept."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not self.name.strip() or NOT_IN_SIGNATURE.search(self.name + self.email):
            message = f"git accepts no author {self.name!r} with the address {self.email!r}"
            advice = "give a name without <, > and line breaks"
            raise KalypsoError(message, advice=advice)


def fast_import(
    parent: str | None,
    changes: Mapping[str, bytes | None],
    message: str,
    author: Signature,
    date: datetime,
) -> bytes:
    """Return the stream that makes one commit and prints its id.

    `changes` apply to the files of `parent` (None: a root commit). None deletes a file or a whole
    folder; bytes become a regular file. Deletions come first, so that a file can become a folder
    and vice versa. The date is written in whole seconds of UTC: equal inputs give the same commit.
    Raises KalypsoError for paths that no checkout would write.
    """
    contents = {_checked(path): content for path, content in changes.items()}
    _refuse_files_in_files([path for path, content in contents.items() if content is not None])
    signature = f"{author.name.strip()} <{author.email.strip()}>".encode("utf-8", "replace")
    signature_and_date = b"%s %d +0000" % (signature, int(_aware(date).timestamp()))
    return b"".join(
        (
            b"feature done\n",
            b"commit %s\n" % REF.encode(),
            b"mark :1\n",
            b"author %s\n" % signature_and_date,
            b"committer %s\n" % signature_and_date,
            _data(_text(message)),
            b"from %s\n" % parent.encode() if parent else b"",
            *_deletions(contents),
            *_files(contents),
            b"get-mark :1\n",
            b"done\n",
        )
    )


def _deletions(contents: Mapping[bytes, bytes | None]) -> Iterator[bytes]:
    for path in sorted(path for path, content in contents.items() if content is None):
        yield b"D %s\n" % _quoted(path)


def _files(contents: Mapping[bytes, bytes | None]) -> Iterator[bytes]:
    for path in sorted(contents):
        content = contents[path]
        if content is not None:
            yield b"M %s inline %s\n" % (FILE_MODE.encode(), _quoted(path))
            yield _data(content)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: bytes) -> bytes:
    """Quote a path; only three bytes need an escape in double quotes."""
    return b'"%s"' % path.replace(b"\\", rb"\\").replace(b'"', rb"\"").replace(b"\n", rb"\n")


def _checked(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    if b"\0" in raw or is_unsafe(raw):
        raise KalypsoError(f"no file can be written at {path!r}", advice="rename it")
    return raw


def _refuse_files_in_files(paths: list[bytes]) -> None:
    """Refuse a file at the path of another file's folder: one of the two would be lost."""
    files = set(paths)
    for path in paths:
        position = path.find(b"/")
        while position >= 0:
            if path[:position] in files:
                folder = path[:position].decode("utf-8", "surrogateescape")
                raise KalypsoError(f"{folder!r} would be both a file and a folder")
            position = path.find(b"/", position + 1)


def _text(message: str) -> bytes:
    """Encode a commit message: UTF-8 without NUL, with a final newline."""
    return message.replace("\0", "").rstrip("\n").encode("utf-8", "replace") + b"\n"


def _aware(date: datetime) -> datetime:
    if date.tzinfo is None:
        raise ValueError("a commit's date needs a time zone")
    return date
