"""A commit on a branch, as the input of `git fast-import`.

https://git-scm.com/docs/git-fast-import
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TREE_REF: Final = "refs/sandbox/tree"
"""fast-import makes trees only with commits; this ref exists for that long."""


def fast_import(
    branch: str,
    parent: str | None,
    changes: Mapping[str, str | bytes | None],
    message: str,
    person: str,
) -> bytes:
    """Return a stream that commits to a branch and prints the commit's id.

    Without a parent, the branch is new. A None in `changes` deletes the file. `person` is author
    and committer, with the date, in git's format.
    """
    words = [
        b"feature done",
        b"commit refs/heads/" + branch.encode(),
        b"mark :1",
        b"author " + person.encode(),
        b"committer " + person.encode(),
        _data(message.encode()),
        *([f"from {parent}".encode()] if parent else []),
        *(_change(path, content) for path, content in changes.items()),
        b"",
        b"get-mark :1",
        b"done",
        b"",
    ]
    return b"\n".join(words)


def import_tree(base: str, changes: Mapping[str, tuple[str, str | bytes] | None]) -> bytes:
    """Return the stream for a commit with a tree, which prints the commit's id.

    `base` is the tree to change ("": none). `changes` have modes with object ids (text) or contents
    (bytes); None deletes.
    """
    words = [
        b"feature done",
        b"commit " + TREE_REF.encode(),
        b"mark :1",
        b"committer sandbox <> 0 +0000",
        _data(b""),
        *([b'M 040000 %s ""' % base.encode()] if base else []),
        *(b"D " + _quoted(path) for path, change in changes.items() if change is None),
        *(_entry(path, *change) for path, change in changes.items() if change is not None),
        b"",
        b"get-mark :1",
        b"done",
        b"",
    ]
    return b"\n".join(words)


def _entry(path: str, mode: str, content: str | bytes) -> bytes:
    if isinstance(content, str):
        return b"M %s %s %s" % (mode.encode(), content.encode(), _quoted(path))
    return b"M %s inline %s\n" % (mode.encode(), _quoted(path)) + _data(content)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s" % (len(content), content)


def _change(path: str, content: str | bytes | None) -> bytes:
    """Return a file command of fast-import."""
    if content is None:
        return b"D " + _quoted(path)
    return _entry(path, "100644", content.encode() if isinstance(content, str) else content)


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"%s"' % escaped.encode("utf-8", "surrogateescape")
